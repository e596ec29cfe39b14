import type { ValueTest } from '../criteria/condition.ts';
import { type Bracket, bracket, bracketOf } from '../value/value-type.ts';

const INT_LIMIT = 2 ** 31;
const LONG_LIMIT = 2 ** 63;

/** The numbers of BSON's types, as `$type` takes them. */
export const typeCodes: ReadonlyMap<number, string> = new Map([
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
 * BSON's types of JavaScript's values. A number is a double, and also an int or a long if it is whole and in range,
 * because a driver would have stored it so; a bigint is a long. Types without a JavaScript value are valid and match
 * nothing.
 */
export const typeTests: ReadonlyMap<string, ValueTest> = new Map<string, ValueTest>([
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
