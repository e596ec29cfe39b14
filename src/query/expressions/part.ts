import { CriteriaError } from '../../errors/errors.ts';
import { compileItemFields, compileOperators } from '../criteria/compile-criteria.ts';
import { singleTest } from '../criteria/condition.ts';
import { provideOperators } from '../criteria/late-operators.ts';
import { fieldOperators } from '../criteria/operators/field-operators.ts';
import type { Operator } from '../criteria/operators/operator.ts';
import { checkPath } from '../path/own-property.ts';
import { addRule, GONE, projecting, type Reshape, type Rule, type Rules } from '../projection.ts';
import { unexpectedValue } from '../query-errors.ts';
import { orderIn } from '../value/collation.ts';
import { isFields } from '../value/value-type.ts';
import { compileAccumulator } from './accumulators/compile-accumulator.ts';
import { keysIn } from './collated-keys.ts';
import { compileExpression } from './compile-expression.ts';
import { IdPart } from './id-part.ts';
import { isTrue } from './operator.ts';
import { bitOperators } from './operators/arithmetic.ts';
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
  select: compileChoices,
  fields: bitOperators,
  language,
});

/**
 * Compiles an object of choices to a projection, with MongoDB's semantics: it keeps fields, leaves
 * them out, or takes items of arrays (`$slice`, `$elemMatch`).
 *
 * @param isManaged Whether a path may be kept where others are left out, or the reverse.
 * @throws {CriteriaError} `select_invalid`, naming the place, such as `select.address.city`.
 *
 * @example
 * ```ts
 * const choose = compileChoices({ age: 0 }, isManaged);
 * choose({ _id: 'x', name: 'Ada', age: 36 }); // { _id: 'x', name: 'Ada' }
 * ```
 */
export function compileChoices(
  select: unknown,
  isManaged: (path: string) => boolean,
  collation?: string,
): (document: object) => object {
  if (!isFields(select))
    throw unexpectedValue('select_invalid', 'select', 'a list of paths, or an object', select);
  const rules: Rules = new Map();
  /** Whether it keeps fields, or leaves them out; managed ones decide where no other does. */
  let [own, managed]: (boolean | undefined)[] = [];
  for (const [path, value] of Object.entries(select)) {
    const place = `select.${path}`;
    if (path.endsWith('.$'))
      throw selectInvalid(place, 'is no path: select the item by { $elemMatch: criteria }');
    const rule = ruleOf(value, place, collation);
    if (!addRule(rules, checkPath(path, 'select_invalid', place), rule))
      throw selectInvalid(place, 'is inside of another path, or around one');
    const keeps = typeof rule === 'boolean' ? rule : '$elemMatch' in (value as object) || undefined;
    if (keeps === undefined) continue;
    if (isManaged(path)) {
      if (path !== '_id' || keeps) managed ??= keeps;
      continue;
    }
    own ??= keeps;
    if (own !== keeps)
      throw selectInvalid(place, 'keeps a field where others are left out, or the reverse');
  }
  const keeps = own ?? managed ?? false;
  if (keeps && !rules.has('_id')) rules.set('_id', true);
  return projecting({ rules, keeps });
}

function selectInvalid(place: string, problem: string): CriteriaError {
  return new CriteriaError('select_invalid', `'${place}' ${problem}.`, { place });
}

function ruleOf(value: unknown, place: string, collation: string | undefined): Rule {
  if (value === 1 || value === 0 || typeof value === 'boolean') return Boolean(value);
  const [name, ...others] = isFields(value) ? Object.keys(value) : [];
  const operand = isFields(value) ? value[name as string] : undefined;
  if (name === '$slice' && others.length === 0) return slice(operand, `${place}.$slice`);
  if (name === '$elemMatch' && others.length === 0) {
    if (!isFields(operand))
      throw unexpectedValue('select_invalid', `${place}.$elemMatch`, 'criteria', operand);
    const test = itemTest(operand, `${place}.$elemMatch`, collation);
    return (items) => {
      const index = Array.isArray(items) ? items.findIndex((item) => test([item], true)) : -1;
      return index < 0 ? GONE : [(items as unknown[])[index]];
    };
  }
  throw unexpectedValue('select_invalid', place, '1, 0, { $slice } or { $elemMatch }', value);
}

/** `$elemMatch` of the part `updates`, which such a select has loaded. */
function itemTest(criteria: object, place: string, collation: string | undefined) {
  const elemMatch = fieldOperators.get('$elemMatch') as Operator;
  const collated = collation === undefined ? undefined : orderIn(collation);
  const compilers = { compileFields: compileItemFields, compileOperators };
  return singleTest(elemMatch(criteria, { place, collated, siblings: {}, ...compilers }));
}

function slice(operand: unknown, place: string): Reshape {
  const isRange = Array.isArray(operand);
  const [first, count, ...more] = (isRange ? operand : [operand]) as [number, number?];
  const isCount = isRange ? (count as number) > 0 && Number.isSafeInteger(count) : true;
  if (!Number.isSafeInteger(first) || !isCount || more.length > 0)
    throw unexpectedValue('select_invalid', place, 'a whole number, or [skip, limit]', operand);
  return (items) => {
    if (!Array.isArray(items)) return items;
    if (count === undefined) return first < 0 ? items.slice(first) : items.slice(0, first);
    const from = first < 0 ? Math.max(0, items.length + first) : first;
    return items.slice(from, from + count);
  };
}
