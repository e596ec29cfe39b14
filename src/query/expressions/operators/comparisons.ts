import { operandInvalid } from '../../query-errors.ts';
import * as bracket from '../../value/bracket.ts';
import { bracketOf, isDate } from '../../value/value-type.ts';
import { parseIso } from '../dates/date-format.ts';
import {
  argumentsOf,
  compileNamed,
  countItems,
  type Evaluate,
  type ExpressionOperator,
  isNullish,
  isTrue,
  namedOperands,
  ofArguments,
  ofGiven,
  ofSettings,
  wrongKind,
} from '../operator.ts';

/** Values of all kinds compare in MongoDB's order; a missing value comes before null. */
const compared = (test: (order: number) => unknown): ExpressionOperator =>
  ofArguments(2, 2, (place, a, b, _c, _d, { compare }) => {
    countItems(a, place);
    return test(compare(a, b));
  });

export const comparisons = {
  $eq: compared((order) => order === 0),
  $ne: compared((order) => order !== 0),
  $gt: compared((order) => order > 0),
  $gte: compared((order) => order >= 0),
  $lt: compared((order) => order < 0),
  $lte: compared((order) => order <= 0),
  $cmp: compared(Math.sign),
  $and: (operand, place, scope) => {
    const all = argumentsOf(operand, place, scope);
    return (document) => all.every((one) => isTrue(one(document)));
  },
  $or: (operand, place, scope) => {
    const all = argumentsOf(operand, place, scope);
    return (document) => all.some((one) => isTrue(one(document)));
  },
  $not: ofArguments(1, 1, (_, value) => !isTrue(value)),
  $cond: (operand, place, scope) => {
    if (Array.isArray(operand) && operand.length !== 3)
      throw operandInvalid(place, '[if, then, else]', operand);
    const names = ['if', 'then', 'else'];
    const given = Array.isArray(operand)
      ? Object.fromEntries(names.map((name, index) => [name, operand[index]]))
      : operand;
    const [test, then, other] = compileNamed(given, place, scope, names) as [
      Evaluate,
      Evaluate,
      Evaluate,
    ];
    return (document) => (isTrue(test(document)) ? then(document) : other(document));
  },
  $ifNull: (operand, place, scope) => {
    const all = argumentsOf(operand, place, scope, 2);
    const last = all.pop() as Evaluate;
    return (document) => {
      for (const one of all) {
        const value = one(document);
        if (!isNullish(value)) return value;
      }
      return last(document);
    };
  },
  $switch: (operand, place, scope) => {
    const { branches, default: fallback } = namedOperands(
      operand,
      place,
      ['branches'],
      ['default'],
    );
    if (!Array.isArray(branches) || branches.length === 0)
      throw operandInvalid(`${place}.branches`, 'a list of { case, then }', branches);
    const cases = branches.map((branch, index) => {
      const at = `${place}.branches[${index}]`;
      return compileNamed(branch, at, scope, ['case', 'then']) as [Evaluate, Evaluate];
    });
    const hasDefault = 'default' in (operand as object);
    const other = scope.compile(fallback, `${place}.default`, scope);
    return (document) => {
      for (const [test, then] of cases) if (isTrue(test(document))) return then(document);
      if (!hasDefault) throw wrongKind(place, 'a branch that holds, or a default', undefined);
      return other(document);
    };
  },
} satisfies Record<string, ExpressionOperator>;

/** The names of kinds in their order; those of Cairn's own kinds have no number in BSON. */
const NAMES =
  'missing null number string object map set array binData blob bool date regex object'.split(' ');

type Convert = (value: unknown, place: string) => unknown;

const toText: Convert = (value, place) => {
  if (typeof value === 'string') return value;
  if (isDate(value)) return value.toISOString();
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  throw wrongKind(place, 'a value that has a text', value);
};

const toDouble: Convert = (value, place) => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  if (isDate(value)) return value.getTime();
  const number = DECIMAL.test(String(value)) ? Number(value) : Number.NaN;
  if (typeof value !== 'string' || Number.isNaN(number))
    throw wrongKind(place, 'a number, or the text of one', value);
  return number;
};

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$|^-?Infinity$/i;

/** Whole numbers of so many bits; a date has 64. */
const toWhole =
  (bits: 32 | 64): Convert =>
  (value, place) => {
    const isText = typeof value === 'string';
    if (isText ? !/^[+-]?\d+$/.test(value) : bits === 32 && isDate(value))
      throw wrongKind(place, 'a number, or the text of a whole one', value);
    const whole = isText ? BigInt(value.replace(/^\+/, '')) : value;
    const number = Math.trunc(toDouble(whole, place) as number);
    const limit = 2 ** (bits - 1);
    if (!(number >= -limit && number < limit))
      throw wrongKind(place, `a number that ${bits} bits can hold`, value);
    // One that a number cannot hold stays exact.
    const isExact = typeof whole !== 'bigint' || Number.isSafeInteger(number);
    return isExact && !(bits === 64 && typeof value === 'bigint') ? number || 0 : whole;
  };

const toDate: Convert = (value, place) => {
  if (isDate(value)) return value;
  const isTime = typeof value === 'number' || typeof value === 'bigint';
  const date =
    typeof value === 'string'
      ? parseIso(value, undefined)
      : new Date(isTime ? Number(value) : Number.NaN);
  if (!date || Number.isNaN(date.getTime()))
    throw wrongKind(place, 'a date, a time, or the text of one', value);
  return date;
};

const conversions: Readonly<Record<string, Convert>> = {
  string: toText,
  double: toDouble,
  int: toWhole(32),
  long: toWhole(64),
  bool: isTrue,
  date: toDate,
};

/** The numbers that BSON gives them. */
const CODES: Readonly<Record<string, string>> = {
  ...{ 1: 'double', 2: 'string', 8: 'bool', 9: 'date', 16: 'int', 18: 'long' },
};

const converted = (to: string): ExpressionOperator =>
  ofGiven(1, 1, (place, value) => (conversions[to] as Convert)(value, place));

export const types = {
  $type: ofArguments(1, 1, (_, value) => typeName(value)),
  $isNumber: ofArguments(1, 1, (_, value) => bracketOf(value) === bracket.numeric),
  $toString: converted('string'),
  $toDouble: converted('double'),
  $toInt: converted('int'),
  $toLong: converted('long'),
  $toBool: converted('bool'),
  $toDate: converted('date'),
  $convert: ofSettings(
    ['input'],
    ['to'],
    [],
    ({ to }, place) => {
      const name = CODES[String(to)] ?? String(to);
      if (!Object.hasOwn(conversions, name)) {
        const wanted = `one of ${Object.keys(conversions).join(', ')}`;
        throw operandInvalid(`${place}.to`, wanted, to);
      }
      return (value) => (conversions[name] as Convert)(value, place);
    },
    ['onError', 'onNull'],
  ),
} satisfies Record<string, ExpressionOperator>;

/** Whole numbers within 32 bits are `int`, as a driver of the server stores them. */
function typeName(value: unknown): string {
  if (typeof value === 'bigint') return 'long';
  if (typeof value !== 'number') return NAMES[bracketOf(value)] as string;
  if (!Number.isInteger(value)) return 'double';
  return Math.abs(value) < 2 ** 31 ? 'int' : 'long';
}
