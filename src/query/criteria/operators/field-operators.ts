import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { isAmong } from '../../value/compare-values.ts';
import { isFields, isRegExp } from '../../value/value-type.ts';
import {
  type Condition,
  EXPENSIVE,
  each,
  eachPresent,
  not,
  singleTest,
  type ValueTest,
} from '../condition.ts';
import { $eq, $gt, $gte, $lt, $lte, $ne, equalTo } from './comparison.ts';
import { holdsOperators, type Operator, type OperatorContext } from './operator.ts';

const $in: Operator = oneOf;

const $nin: Operator = (operand, context) => not(oneOf(operand, context));

function oneOf(operand: unknown, { place, collated }: OperatorContext): Condition {
  const items = itemsOf(operand, place);
  refuseOperators(items, place);
  const strings = collated ? items.filter((item) => typeof item === 'string').sort(collated) : [];
  const primitives = new Set(
    items.filter((item) => isPrimitive(item) && !(collated && typeof item === 'string')),
  );
  for (const item of primitives) {
    // A bigint and an equal number are one value here, but two in a Set.
    if (typeof item === 'bigint' && BigInt(Number(item)) === item) primitives.add(Number(item));
  }
  const tests: ValueTest[] = [];
  if (primitives.size > 0)
    tests.push((value) => primitives.has(value) || hasAmount(primitives, value));
  // A collator has no keys to look up.
  if (collated && strings.length > 0)
    tests.push((value) => typeof value === 'string' && isAmong(strings, value, collated));
  if (items.some((item) => item === null || item === undefined)) tests.push(equalTo(null));
  for (const item of items) {
    if (typeof item === 'object' && item !== null && !isRegExp(item))
      tests.push(equalTo(item, collated));
  }
  const cheap = tests.length;
  items.forEach((item, index) => {
    if (isRegExp(item)) tests.push(singleTest(pattern(item, placeBelow(place, index))));
  });
  const [only] = tests;
  const cost = tests.length > cheap ? EXPENSIVE : 2;
  if (tests.length === 1 && only) return each(only, cost);
  return each((value, present) => tests.some((test) => test(value, present)), cost + tests.length);
}

function hasAmount(primitives: ReadonlySet<unknown>, value: unknown): boolean {
  if (typeof value !== 'bigint') return false;
  const amount = Number(value);
  return Number.isFinite(amount) && BigInt(amount) === value && primitives.has(amount);
}

function isPrimitive(value: unknown): boolean {
  return value !== null && value !== undefined && typeof value !== 'object';
}

export function itemsOf(operand: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(operand)) throw operandInvalid(place, 'an array', operand);
  return operand;
}

export function refuseOperators(items: readonly unknown[], place: string): void {
  items.forEach((item, index) => {
    if (isFields(item) && holdsOperators(item)) {
      throw operandInvalid(placeBelow(place, index), 'a value without operators', item);
    }
  });
}

/**
 * Truthy as in the server: everything but `false`, 0, null and `undefined`; an empty string is
 * truthy.
 */
const $exists: Operator = (operand) => {
  const exists = eachPresent((_value, present) => present);
  const wanted = operand !== false && operand !== null && operand !== undefined && !isZero(operand);
  return wanted ? exists : not(exists);
};

export function isZero(operand: unknown): boolean {
  return operand === 0 || operand === 0n;
}

/**
 * Every operator allowed in the criteria of a field; `undefined` for one whose code is a part that
 * has not loaded.
 */
export const fieldOperators: Map<string, Operator | undefined> = new Map(
  Object.entries<Operator | undefined>({
    $eq,
    $ne,
    $gt,
    $gte,
    $lt,
    $lte,
    $in,
    $nin,
    $not: undefined,
    $exists,
    $type: undefined,
    $regex: undefined,
    $options: undefined,
    $size: undefined,
    $all: undefined,
    $elemMatch: undefined,
    $mod: undefined,
  }),
);

/** A RegExp as the criteria of a field, by the operator of a part that its query has loaded. */
export function pattern(regExp: RegExp, place: string): Condition {
  return (fieldOperators.get('$regex') as Operator)(regExp, { place, siblings: {} } as never);
}

/** Must be called with operators whose code has loaded. */
export function addFieldOperators(operators: Readonly<Record<string, Operator>>): void {
  for (const [name, operator] of Object.entries(operators)) fieldOperators.set(name, operator);
}
