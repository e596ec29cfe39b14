import { compileChoices } from '../choices.ts';
import { compileItemCriteria } from '../criteria/compile-criteria.ts';
import { provideOperators } from '../criteria/late-operators.ts';
import { compileAccumulator } from './accumulators/compile-accumulator.ts';
import { keysIn } from './collated-keys.ts';
import { compileExpression } from './compile-expression.ts';
import { IdPart } from './id-part.ts';
import { isTrue } from './operator.ts';
import { bitOperators } from './operators/bits.ts';
import { dateShift } from './operators/dates.ts';

/** Compiles the expression of `$expr` to a test of documents. */
export function compileExpressionTest(...given: Parameters<typeof compileExpression>) {
  const { evaluate, roots } = compileExpression(...given);
  return { test: (document: object) => isTrue(evaluate(document)), roots };
}

/** What aggregation takes of this part. */
const language = {
  compileAccumulator,
  compileExpression,
  compileTest: compileExpressionTest,
  dateShift,
  keysIn,
  IdPart,
};

export type Language = typeof language;

provideOperators({
  expression: compileExpressionTest,
  select: (choices, isManaged, collation) =>
    compileChoices(choices, (criteria) => compileItemCriteria(criteria, collation), isManaged),
  fields: bitOperators,
  language,
});
