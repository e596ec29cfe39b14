import { nearestName } from '../../../errors/nearest-name.ts';
import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { type Bracket, bracket, bracketOf, isFields, isRegExp } from '../../value/value-type.ts';
import { all, each, eachPresent, type ValueTest, whole } from '../condition.ts';
import { equality } from './comparison.ts';
import { isZero, itemsOf, refuseOperators } from './field-operators.ts';
import type { Operator } from './operator.ts';
import { pattern } from './pattern.ts';

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
  const test = typeTests.get(alias as string);
  if (test) return test;
  const aliases = [...typeTests.keys()];
  const near = typeof type === 'string' && nearestName(type, aliases);
  const hint = near ? ` such as '${near}'` : '';
  throw operandInvalid(place, `a BSON type${hint}: ${aliases.join(', ')}, or its number`, type);
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

/**
 * Truncates first, as the server does. A number outside of a long is an invalid operand, and never
 * matches.
 */
const $mod: Operator = (operand, { place }) => {
  if (!Array.isArray(operand) || operand.length !== 2) {
    throw operandInvalid(place, 'an array of divisor and remainder', operand);
  }
  const divisor = wholeOf(operand[0]);
  const remainder = wholeOf(operand[1]);
  if (divisor === undefined || isZero(divisor)) {
    throw operandInvalid(
      placeBelow(place, 0),
      'a finite number that is not 0 without its fraction',
      operand[0],
    );
  }
  if (remainder === undefined) {
    throw operandInvalid(placeBelow(place, 1), 'a finite number', operand[1]);
  }
  return each((value) => {
    const dividend = wholeOf(value);
    return dividend !== undefined && leaves(dividend, divisor, remainder);
  });
};

type Whole = number | bigint;

function wholeOf(value: unknown): Whole | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'number' || !(value >= -LONG_LIMIT && value < LONG_LIMIT)) return undefined;
  return Math.trunc(value);
}

function leaves(dividend: Whole, divisor: Whole, remainder: Whole): boolean {
  if (
    typeof dividend === 'number' &&
    typeof divisor === 'number' &&
    typeof remainder === 'number'
  ) {
    return dividend % divisor === remainder;
  }
  return BigInt(dividend) % BigInt(divisor) === BigInt(remainder);
}

/** All items must be present; an empty list matches nothing, as in MongoDB. */
const $all: Operator = (operand, { place, collated, compileOperators }) => {
  const items = itemsOf(operand, place);
  if (items.length === 0) return each(() => false);
  const [first] = items;
  const areElements = isFields(first) && Object.hasOwn(first, '$elemMatch');
  if (!areElements) refuseOperators(items, place);
  return all(
    items.map((item, index) => {
      const at = placeBelow(place, index);
      if (!areElements) return isRegExp(item) ? pattern(item, at) : equality(item, collated);
      if (!isFields(item) || Object.keys(item).join() !== '$elemMatch') {
        throw operandInvalid(at, 'an object with $elemMatch alone, like the first item', item);
      }
      return compileOperators(item, at, collated);
    }),
  );
};

const $size: Operator = (operand, { place }) => {
  const size = typeof operand === 'bigint' ? Number(operand) : operand;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0) {
    throw operandInvalid(place, 'a whole number, 0 or more', operand);
  }
  return whole((value) => Array.isArray(value) && value.length === size);
};

/** Operators that few queries use. */
export const rareOperators: Readonly<Record<string, Operator>> = { $type, $mod, $all, $size };
