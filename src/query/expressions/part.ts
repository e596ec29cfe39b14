import { compileChoices } from '../choices.ts';
import { compileItemCriteria } from '../criteria/compile-criteria.ts';
import { provideOperators } from '../criteria/late-operators.ts';
import { compileAccumulator } from './accumulators/compile-accumulator.ts';
import { compileExpression } from './compile-expression.ts';
import { isTrue } from './operator.ts';
import { bitOperators } from './operators/bits.ts';

/** What aggregation takes from the loaded part. */
export const compilers = { compileAccumulator, compileExpression };

/** Compiles the expression of `$expr` to a test of documents. */
export function compileExpressionTest(expression: unknown, place: string, now: number) {
  const { evaluate, roots } = compileExpression(expression, place, now);
  return { test: (document: object) => isTrue(evaluate(document)), roots };
}

provideOperators({
  expression: compileExpressionTest,
  select: (choices, isManaged) => compileChoices(choices, compileItemCriteria, isManaged),
  fields: bitOperators,
});
