import { operandInvalid } from '../../query-errors.ts';
import { bracket, bracketOf } from '../../value/value-type.ts';
import {
  type ExpressionOperator,
  isNullish,
  isTrue,
  namedOperands,
  ofArguments,
  wrongKind,
} from '../operator.ts';

/** The names of kinds; those of Cairn's own kinds have no number in BSON. */
const NAMES: Readonly<Record<number, string>> = {
  [bracket.missing]: 'missing',
  [bracket.null]: 'null',
  [bracket.string]: 'string',
  [bracket.object]: 'object',
  [bracket.map]: 'map',
  [bracket.set]: 'set',
  [bracket.array]: 'array',
  [bracket.binary]: 'binData',
  [bracket.blob]: 'blob',
  [bracket.boolean]: 'bool',
  [bracket.date]: 'date',
  [bracket.regexp]: 'regex',
};

type Convert = (value: unknown, place: string) => unknown;

const toText: Convert = (value, place) => {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  throw wrongKind(place, 'a value that has a text', value);
};

const toDouble: Convert = (value, place) => {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
  if (value instanceof Date) return value.getTime();
  const number =
    typeof value === 'string' && value.trim() === value && value !== ''
      ? Number(value)
      : Number.NaN;
  if (Number.isNaN(number)) throw wrongKind(place, 'a number, or the text of one', value);
  return number;
};

const toInt: Convert = (value, place) => {
  const number = toDouble(value, place) as number;
  if (!Number.isFinite(number) || (typeof value === 'string' && !Number.isInteger(number)))
    throw wrongKind(place, 'a number that has an integer', value);
  return Math.trunc(number);
};

const toDate: Convert = (value, place) => {
  if (value instanceof Date) return value;
  const isTime = ['number', 'bigint', 'string'].includes(typeof value);
  const date = new Date(
    isTime ? (typeof value === 'bigint' ? Number(value) : (value as string)) : Number.NaN,
  );
  if (Number.isNaN(date.getTime()))
    throw wrongKind(place, 'a date, a time, or the text of one', value);
  return date;
};

const conversions: Readonly<Record<string, Convert>> = {
  string: toText,
  double: toDouble,
  int: toInt,
  long: toInt,
  bool: isTrue,
  date: toDate,
};

const converted = (to: string): ExpressionOperator =>
  ofArguments(
    1,
    1,
    (place) => (value: unknown) =>
      isNullish(value) ? null : (conversions[to] as Convert)(value, place),
  );

export const types = {
  $type: ofArguments(1, 1, () => (value: unknown) => typeName(value)),
  $isNumber: ofArguments(
    1,
    1,
    () => (value: unknown) => typeof value === 'number' || typeof value === 'bigint',
  ),
  $toString: converted('string'),
  $toDouble: converted('double'),
  $toInt: converted('int'),
  $toLong: converted('long'),
  $toBool: converted('bool'),
  $toDate: converted('date'),
  $convert: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'to'], ['onError', 'onNull']);
    const convert = conversions[String(given.to)];
    if (!convert || !Object.hasOwn(conversions, String(given.to)))
      throw operandInvalid(
        `${place}.to`,
        `one of ${Object.keys(conversions).join(', ')}`,
        given.to,
      );
    const [input, onError, onNull] = (['input', 'onError', 'onNull'] as const).map((name) =>
      scope.compile(given[name] ?? null, `${place}.${name}`, scope),
    ) as [
      ReturnType<typeof scope.compile>,
      ReturnType<typeof scope.compile>,
      ReturnType<typeof scope.compile>,
    ];
    return (document) => {
      const value = input(document);
      if (isNullish(value)) return onNull(document);
      try {
        return convert(value, place);
      } catch (error) {
        if (given.onError === undefined) throw error;
        return onError(document);
      }
    };
  },
} satisfies Record<string, ExpressionOperator>;

/** Whole numbers within 32 bits are `int`, as a driver of the server stores them. */
function typeName(value: unknown): string {
  if (typeof value === 'bigint') return 'long';
  if (typeof value !== 'number') return NAMES[bracketOf(value)] ?? 'object';
  if (!Number.isInteger(value)) return 'double';
  return Math.abs(value) < 2 ** 31 ? 'int' : 'long';
}
