import { operandInvalid } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import { EXPENSIVE, singleTest, whole } from '../condition.ts';
import { holdsOperators, type Operator } from './operator.ts';

export const $size: Operator = (operand, { place }) => {
  const size = typeof operand === 'bigint' ? Number(operand) : operand;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0) {
    throw operandInvalid(place, 'a whole number, 0 or more', operand);
  }
  return whole((value) => Array.isArray(value) && value.length === size);
};

/** One item must match all criteria: operators test the item itself, field criteria its fields. */
export const $elemMatch: Operator = (
  operand,
  { place, collated, compileOperators, compileFields },
) => {
  if (!isFields(operand))
    throw operandInvalid(place, 'an object of operators or field criteria', operand);
  const test = isForValues(operand)
    ? singleTest(compileOperators(operand, place, collated))
    : itemTest(compileFields(operand, place, collated));
  return whole(
    (value) => Array.isArray(value) && value.some((item) => test(item, true)),
    EXPENSIVE,
  );
};

/**
 * Whether criteria for an item are operators on the item itself; `$and`, `$or`, `$nor` hold field
 * criteria.
 */
export function isForValues(criteria: Readonly<Record<string, unknown>>): boolean {
  return holdsOperators(criteria) && !Object.keys(criteria).some((key) => logical.has(key));
}

const logical: ReadonlySet<string> = new Set(['$and', '$or', '$nor']);

/** Field criteria apply to objects and, with array indexes as names, to arrays; as in MongoDB. */
export function itemTest(test: (item: object) => boolean): (item: unknown) => boolean {
  return (item) => (isFields(item) || Array.isArray(item)) && test(item);
}
