import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { isAmong } from '../../value/compare-values.ts';
import { isFields, isRegExp } from '../../value/value-type.ts';
import { all, type Condition, EXPENSIVE, each, not, type ValueTest } from '../condition.ts';
import { $elemMatch, $size } from './array.ts';
import { $eq, $gt, $gte, $lt, $lte, $mod, $ne, equality, equalTo } from './comparison.ts';
import { $exists, $type } from './element.ts';
import { holdsOperators, type Operator, type OperatorContext } from './operator.ts';
import { $options, $regex, matchesPattern, pattern } from './pattern.ts';

const $in: Operator = oneOf;

const $nin: Operator = (operand, context) => not(oneOf(operand, context));

const $not: Operator = (operand, { place, collated, compileOperators }) => {
  if (isRegExp(operand)) return not(pattern(operand, place));
  if (!isFields(operand) || Object.keys(operand).length === 0) {
    throw operandInvalid(place, 'a RegExp or an object of operators', operand);
  }
  return not(compileOperators(operand, place, collated));
};

/** All items must be present; an empty list matches nothing, as in MongoDB. */
const $all: Operator = (operand, context) => {
  const items = itemsOf(operand, context.place);
  if (items.length === 0) return each(() => false);
  const first = items[0];
  if (isFields(first) && Object.hasOwn(first, '$elemMatch')) {
    return all(items.map((item, index) => elementOfAll(item, index, context)));
  }
  refuseOperators(items, context.place);
  return all(
    items.map((item, index) =>
      isRegExp(item)
        ? pattern(item, placeBelow(context.place, index))
        : equality(item, context.collated),
    ),
  );
};

/** Every operator allowed in the criteria of a field. */
export const fieldOperators: Map<string, Operator> = new Map(
  Object.entries({
    $eq,
    $ne,
    $gt,
    $gte,
    $lt,
    $lte,
    $in,
    $nin,
    $not,
    $exists,
    $type,
    $regex,
    $options,
    $size,
    $all,
    $elemMatch,
    $mod,
  }),
);

function elementOfAll(item: unknown, index: number, context: OperatorContext): Condition {
  const place = placeBelow(context.place, index);
  if (!isFields(item) || Object.keys(item).join() !== '$elemMatch') {
    throw operandInvalid(place, 'an object with $elemMatch alone, like the first item', item);
  }
  return context.compileOperators(item, place, context.collated);
}

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
    if (isRegExp(item)) tests.push(matchesPattern(item, placeBelow(place, index)));
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

function itemsOf(operand: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(operand)) throw operandInvalid(place, 'an array', operand);
  return operand;
}

function refuseOperators(items: readonly unknown[], place: string): void {
  items.forEach((item, index) => {
    if (isFields(item) && holdsOperators(item)) {
      throw operandInvalid(placeBelow(place, index), 'a value without operators', item);
    }
  });
}
