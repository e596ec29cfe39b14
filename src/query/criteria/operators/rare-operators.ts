import { nearestName } from '../../../errors/nearest-name.ts';
import { operandInvalid, placeBelow, unexpectedValue } from '../../query-errors.ts';
import * as bracket from '../../value/bracket.ts';
import { equalValues } from '../../value/compare-values.ts';
import { type Bracket, bracketOf, isFields, isRegExp } from '../../value/value-type.ts';
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
import { isForValues, itemTest } from '../item-criteria.ts';
import { equality } from './comparison.ts';
import { isZero, itemsOf, refuseOperators } from './field-operators.ts';
import type { Operator } from './operator.ts';

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

const $not: Operator = (operand, { place, collated, compileOperators }) => {
  if (isRegExp(operand)) return not(pattern(operand, place));
  if (!isFields(operand) || Object.keys(operand).length === 0) {
    throw operandInvalid(place, 'a RegExp or an object of operators', operand);
  }
  return not(compileOperators(operand, place, collated));
};

/** With `$options` beside it. */
const $regex: Operator = (operand, { place, siblings }) => {
  const options = siblings.$options;
  if (typeof operand !== 'string' && !isRegExp(operand)) {
    throw operandInvalid(place, 'a string or a RegExp', operand);
  }
  if (options === undefined)
    return pattern(typeof operand === 'string' ? regExpOf(operand, '', place) : operand, place);
  const optionsPlace = placeBelow(place.slice(0, -'.$regex'.length), '$options');
  const flags = flagsOf(options, optionsPlace);
  if (typeof operand === 'string') return pattern(regExpOf(operand, flags, place), place);
  if (operand.flags !== '') {
    throw operandInvalid(
      optionsPlace,
      'left out, because the RegExp has flags of its own',
      options,
    );
  }
  return pattern(regExpOf(operand.source, flags, place), place);
};

/** Only valid beside `$regex`, which has read it; matches everything itself. */
const $options: Operator = (operand, { place, siblings }) => {
  if (!Object.hasOwn(siblings, '$regex')) throw operandInvalid(place, 'beside a $regex', operand);
  return { kind: 'all', conditions: [] };
};

function flagsOf(options: unknown, place: string): string {
  if (typeof options !== 'string' || !/^[imsu]*$/.test(options)) {
    throw operandInvalid(place, 'a string of the letters i, m, s, u', options);
  }
  return [...new Set(options)].join('');
}

function regExpOf(source: string, flags: string, place: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw operandInvalid(place, 'a regular expression of JavaScript', source, error);
  }
}

/** Most characters of a pattern's source. */
const LONGEST_PATTERN = 1000;

/**
 * A RegExp as the criteria of a field: matches strings by the pattern, and equal RegExps.
 *
 * JavaScript cannot stop catastrophic backtracking: `^(a+)+$` takes 18 seconds for a string of 30
 * characters, and blocks its thread for as long. With `connect()` a worker that hangs in a pattern
 * is restarted.
 *
 * @throws {CriteriaError} `pattern_too_long`. The test throws `subject_too_long` where JavaScript
 *   gives up.
 */
function pattern(regExp: RegExp, place: string): Condition {
  if (regExp.source.length > LONGEST_PATTERN) {
    const expected = `a pattern of at most ${LONGEST_PATTERN} characters`;
    throw unexpectedValue('pattern_too_long', place || 'criteria', expected, regExp.source);
  }
  // With `g` or `y`, `test` begins at lastIndex: the same string would match every other time.
  const stateless = new RegExp(regExp.source, regExp.flags.replace('g', ''));
  const test = (value: unknown): boolean => {
    if (typeof value !== 'string') return typeof value === 'object' && equalValues(value, regExp);
    stateless.lastIndex = 0;
    try {
      return stateless.test(value);
    } catch (error) {
      // No match would hide the document, and a negation would show it.
      const expected = 'a pattern that JavaScript can try on such a string';
      throw unexpectedValue('subject_too_long', place || 'criteria', expected, value, error);
    }
  };
  return each(test, EXPENSIVE);
}

/** Operators that few queries use. */
export const rareOperators: Readonly<Record<string, Operator>> = {
  $all,
  $elemMatch,
  $mod,
  $not,
  $options,
  $regex,
  $size,
  $type,
};
