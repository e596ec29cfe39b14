import { operandInvalid } from '../../query-errors.ts';
import {
  type Compare,
  compareValues,
  equalValues,
  isNaNValue,
} from '../../value/compare-values.ts';
import { bracketOf, isDate, isRegExp } from '../../value/value-type.ts';
import { type Condition, each, not, type ValueTest } from '../condition.ts';
import type { Operator } from './operator.ts';

/**
 * `$eq`, and a literal as the criteria of a field. A RegExp equals RegExps, it is no pattern here.
 */
export const $eq: Operator = (operand, { collated }) => equality(operand, collated);

export const $ne: Operator = (operand, { place, collated }) => {
  // The server refuses it as well: nearly every author means "does not match the pattern".
  if (isRegExp(operand)) throw operandInvalid(place, 'a value ($not takes a pattern)', operand);
  return not(equality(operand, collated));
};

export function equality(operand: unknown, collated?: Compare): Condition {
  const test = equalTo(operand, collated);
  // A number may equal a bigint, and a string others of a collation.
  const isSingle = (typeof operand === 'string' && !collated) || typeof operand === 'boolean';
  return isSingle ? { kind: 'each', test, cost: 1, literal: operand } : each(test);
}

/** Whether a candidate equals the operand; null also equals `undefined` and missing. */
export function equalTo(operand: unknown, collated?: Compare): ValueTest {
  if (operand === null || operand === undefined)
    return (value) => value === null || value === undefined;
  if (collated) return (value) => collated(value, operand) === 0;
  switch (typeof operand) {
    case 'string':
    case 'boolean':
      return (value) => value === operand;
    case 'number':
      if (Number.isNaN(operand)) return isNaNValue;
      return (value) =>
        value === operand || (typeof value === 'bigint' && equalValues(value, operand));
    default:
      return (value) => equalValues(value, operand);
  }
}

/**
 * A comparison never leaves the bracket of its operand: no number is greater than a string. Null is
 * at least and at most itself and missing; NaN is at least and at most NaN, and neither less nor
 * greater than anything.
 */
function ordering(
  orEqual: boolean,
  make: (operand: Ordered) => ValueTest,
  accepts: Accepts,
): Operator {
  return (operand, { place, collated }) => {
    if (isRegExp(operand)) throw operandInvalid(place, 'a value that has an order', operand);
    if (operand === null || operand === undefined || isUnordered(operand)) {
      return each(orEqual ? equalTo(operand) : () => false);
    }
    if (typeof operand === 'number' || (typeof operand === 'string' && !collated))
      return each(make(operand));
    if (isDate(operand)) {
      const test = make(operand.getTime());
      return each((value, present) => isDate(value) && test(value.getTime(), present));
    }
    const own = bracketOf(operand);
    const compare = collated ?? compareValues;
    return each(
      (value) => bracketOf(value) === own && !isNaNValue(value) && accepts(compare(value, operand)),
    );
  };
}

type Accepts = (order: number) => boolean;

type Ordered = number | string;

/** NaN and invalid Dates: they have an order for sorting, but no comparison is true. */
function isUnordered(value: unknown): boolean {
  return isNaNValue(isDate(value) ? value.getTime() : value);
}

/** Whether JavaScript's own `<` may compare the two. */
function comparable(value: unknown, operand: Ordered): value is Ordered {
  return (
    typeof value === typeof operand || (typeof value === 'bigint' && typeof operand === 'number')
  );
}

// Four copies that differ in one character: these closures are the hot loop of most scans.
export const $gt = ordering(
  false,
  (operand) => (value) => comparable(value, operand) && value > operand,
  (order) => order > 0,
);
export const $gte = ordering(
  true,
  (operand) => (value) => comparable(value, operand) && value >= operand,
  (order) => order >= 0,
);
export const $lt = ordering(
  false,
  (operand) => (value) => comparable(value, operand) && value < operand,
  (order) => order < 0,
);
export const $lte = ordering(
  true,
  (operand) => (value) => comparable(value, operand) && value <= operand,
  (order) => order <= 0,
);
