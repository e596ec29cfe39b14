import { nearestName } from '../../../errors/nearest-name.ts';
import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { isAmong } from '../../value/compare-values.ts';
import { type Bracket, bracket, bracketOf, isFields, isRegExp } from '../../value/value-type.ts';
import {
  all,
  type Condition,
  EXPENSIVE,
  each,
  eachPresent,
  not,
  singleTest,
  type ValueTest,
  whole,
} from '../condition.ts';
import { $eq, $gt, $gte, $lt, $lte, $mod, $ne, equality, equalTo } from './comparison.ts';
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

/**
 * Truthy as in the server: everything but `false`, 0, null and `undefined`; an empty string is
 * truthy.
 */
const $exists: Operator = (operand) => {
  const exists = eachPresent((_value, present) => present);
  const wanted = operand !== false && operand !== null && operand !== undefined && !isZero(operand);
  return wanted ? exists : not(exists);
};

const $type: Operator = (operand, { place }) => {
  if (!Array.isArray(operand)) return eachPresent(typeTest(operand, place));
  if (operand.length === 0)
    throw operandInvalid(place, 'a type or a list of at least one', operand);
  const tests = operand.map((type, index) => typeTest(type, placeBelow(place, index)));
  return eachPresent((value, present) => tests.some((test) => test(value, present)));
};

/** The numbers of BSON's types, as `$type` takes them. */
const typeCodes: ReadonlyMap<number, string> = new Map([
  [1, 'double'],
  [2, 'string'],
  [3, 'object'],
  [4, 'array'],
  [5, 'binData'],
  [6, 'undefined'],
  [7, 'objectId'],
  [8, 'bool'],
  [9, 'date'],
  [10, 'null'],
  [11, 'regex'],
  [12, 'dbPointer'],
  [13, 'javascript'],
  [14, 'symbol'],
  [15, 'javascriptWithScope'],
  [16, 'int'],
  [17, 'timestamp'],
  [18, 'long'],
  [19, 'decimal'],
  [-1, 'minKey'],
  [127, 'maxKey'],
]);

/**
 * BSON's types of JavaScript's values. A number is a double, and also an int or a long if it is
 * whole and in range, because a driver would have stored it so; a bigint is a long. Types without a
 * JavaScript value are valid and match nothing.
 */
const typeTests: ReadonlyMap<string, ValueTest> = new Map<string, ValueTest>([
  ...[...typeCodes.values()].map((alias): [string, ValueTest] => [alias, () => false]),
  ['double', (value) => typeof value === 'number'],
  ['int', (value) => Number.isInteger(value) && isInt(value as number)],
  ['long', isLong],
  ['number', (value) => typeof value === 'number' || typeof value === 'bigint'],
  ['string', (value) => typeof value === 'string'],
  ['bool', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['undefined', (value, present) => present && value === undefined],
  ['array', (value) => Array.isArray(value)],
  ['object', inBrackets(bracket.object, bracket.map, bracket.set)],
  ['binData', inBrackets(bracket.binary, bracket.blob)],
  ['date', inBrackets(bracket.date)],
  ['regex', inBrackets(bracket.regexp)],
]);

function typeTest(type: unknown, place: string) {
  const alias =
    typeof type === 'number' || typeof type === 'bigint' ? typeCodes.get(Number(type)) : type;
  const test = typeof alias === 'string' ? typeTests.get(alias) : undefined;
  if (test) return test;
  const aliases = [...typeTests.keys()];
  const near = typeof type === 'string' && nearestName(type, aliases);
  const hint = near ? ` such as '${near}'` : '';
  throw operandInvalid(place, `a BSON type${hint}: ${aliases.join(', ')}, or its number`, type);
}

function isZero(operand: unknown): boolean {
  return operand === 0 || operand === 0n;
}

const INT_LIMIT = 2 ** 31;
const LONG_LIMIT = 2 ** 63;

function inBrackets(...brackets: readonly Bracket[]): ValueTest {
  return (value) => brackets.includes(bracketOf(value));
}

function isInt(value: number): boolean {
  return value >= -INT_LIMIT && value < INT_LIMIT;
}

function isLong(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (!Number.isInteger(value) || isInt(value as number)) return false;
  return (value as number) >= -LONG_LIMIT && (value as number) < LONG_LIMIT;
}

const $size: Operator = (operand, { place }) => {
  const size = typeof operand === 'bigint' ? Number(operand) : operand;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0) {
    throw operandInvalid(place, 'a whole number, 0 or more', operand);
  }
  return whole((value) => Array.isArray(value) && value.length === size);
};

/** One item must match all criteria: operators test the item itself, field criteria its fields. */
const $elemMatch: Operator = (operand, { place, collated, compileOperators, compileFields }) => {
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
