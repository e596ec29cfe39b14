import { each } from '../../criteria/condition.ts';
import type { Operator } from '../../criteria/operators/operator.ts';
import { operandInvalid } from '../../query-errors.ts';
import { isDate } from '../../value/value-type.ts';
import {
  argumentsOf,
  dateAt,
  type ExpressionOperator,
  isNullish,
  ofArguments,
  ofGiven,
  ofList,
  wrongKind,
} from '../operator.ts';

type Numeric = number | bigint;

/** A function of one number. What has no result is refused. */
const ofNumber = (compute: (value: number) => number): ExpressionOperator =>
  ofGiven(1, 1, (place, value) => {
    const number = Number(numericIn(value, place));
    const result = compute(number);
    if (Number.isNaN(result) && !Number.isNaN(number))
      throw wrongKind(place, 'a number for which it is defined', value);
    return result;
  });

/** A function of any number of values; two numbers, as most are, make no list. */
function ofMany(
  ofNumbers: (a: number, b: number) => number,
  compute: (values: readonly unknown[], place: string) => unknown,
): ExpressionOperator {
  return (operand, place, scope) => {
    const args = argumentsOf(operand, place, scope);
    const [first, second] = args;
    if (!first || !second || args.length > 2)
      return (document) =>
        compute(
          args.map((one) => one(document)),
          place,
        );
    return (document) => {
      const [a, b] = [first(document), second(document)];
      const isSimple = typeof a === 'number' && typeof b === 'number';
      return isSimple ? ofNumbers(a, b) : compute([a, b], place);
    };
  };
}

/** A function of the bits of whole numbers; a bigint where there is one. */
function ofBits(start: bigint, compute: (a: bigint, b: bigint) => bigint): ExpressionOperator {
  return ofList(0, (values, place) => {
    if (values.some(isNullish)) return null;
    const result = values.map((value) => wholeIn(value, place)).reduce(compute, start);
    return values.some((value) => typeof value === 'bigint') ? result : Number(result);
  });
}

/** A function of one number that keeps a bigint. */
const ofNumeric = (
  compute: (value: number) => number,
  ofBigint: (value: bigint) => bigint = (value) => value,
): ExpressionOperator =>
  ofGiven(1, 1, (place, value) => {
    const numeric = numericIn(value, place);
    return typeof numeric === 'bigint' ? ofBigint(numeric) : compute(numeric);
  });

/** A function of two numbers. A number and a bigint are computed as numbers, as the server does. */
const ofTwo = (
  compute: (a: number, b: number) => number,
  isDefined: (a: number, b: number) => boolean = () => true,
): ExpressionOperator =>
  ofGiven(2, 2, (place, a, b) => {
    const [one, other] = [Number(numericIn(a, place)), Number(numericIn(b, place))];
    if (!isDefined(one, other)) throw wrongKind(place, 'numbers for which it is defined', b);
    return compute(one, other);
  });

/** A function of numbers that Math has by this name. */
const ofMath = (...names: (keyof Math & string)[]): Record<string, ExpressionOperator> =>
  Object.fromEntries(
    names.map((name) => [`$${name}`, ofNumber(Math[name] as (value: number) => number)]),
  );

/** Not of 0, whose logarithm is infinite. */
function logarithm(compute: (value: number) => number): (value: number) => number {
  return (value) => (value === 0 ? Number.NaN : compute(value));
}

export const arithmetic: Record<string, ExpressionOperator> = {
  ...ofMath('sqrt', 'exp', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan'),
  ...ofMath('sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh'),
  $degreesToRadians: ofNumber((value) => (value * Math.PI) / 180),
  $radiansToDegrees: ofNumber((value) => (value * 180) / Math.PI),
  $ln: ofNumber(logarithm(Math.log)),
  $log10: ofNumber(logarithm(Math.log10)),
  $add: ofMany((a, b) => a + b, sum),
  $subtract: ofGiven(2, 2, (place, a, b) => {
    if (isDate(a))
      return isDate(b)
        ? a.getTime() - b.getTime()
        : dateAt(a.getTime() - Number(numericIn(b, place)), place);
    return combine(
      numericIn(a, place),
      numericIn(b, place),
      (x, y) => x - y,
      (x, y) => x - y,
    );
  }),
  $multiply: ofMany((a, b) => a * b, product),
  $divide: ofTwo(
    (a, b) => a / b,
    (_, b) => b !== 0,
  ),
  $mod: ofGiven(2, 2, (place, a, b) => {
    const divisor = numericIn(b, place);
    if (Number(divisor) === 0) throw wrongKind(place, 'a divisor other than 0', b);
    return combine(
      numericIn(a, place),
      divisor,
      (x, y) => x % y,
      (x, y) => x % y,
    );
  }),
  $abs: ofNumeric(Math.abs, (value) => (value < 0n ? -value : value)),
  $ceil: ofNumeric(Math.ceil),
  $floor: ofNumeric(Math.floor),
  $round: ofArguments(1, 2, (place, value, digits) => toDigits(value, digits, place, roundEven)),
  $trunc: ofArguments(1, 2, (place, value, digits) => toDigits(value, digits, place, Math.trunc)),
  $log: ofTwo(
    (value, base) => Math.log(value) / Math.log(base),
    (value, base) => !(value <= 0 || base <= 0 || base === 1),
  ),
  $pow: ofTwo(
    (base, exponent) => base ** exponent,
    (base, exponent) => !(base === 0 && exponent < 0),
  ),
  $atan2: ofTwo(Math.atan2),
  $bitAnd: ofBits(-1n, (a, b) => a & b),
  $bitOr: ofBits(0n, (a, b) => a | b),
  $bitXor: ofBits(0n, (a, b) => a ^ b),
  $bitNot: ofGiven(1, 1, (place, value) => {
    const whole = ~wholeIn(value, place);
    return typeof value === 'bigint' ? whole : Number(whole);
  }),
};

/** The sum of numbers, or a date and numbers of milliseconds. */
function sum(values: readonly unknown[], place: string): unknown {
  let total: Numeric = 0;
  let hasDate = false;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (isDate(value)) {
      if (hasDate) throw wrongKind(place, 'one date at most', value);
      hasDate = true;
      total = Number(total) + value.getTime();
    } else
      total = combine(
        total,
        numericIn(value, place),
        (x, y) => x + y,
        (x, y) => x + y,
      );
  }
  return hasDate ? dateAt(Number(total), place) : total;
}

function product(values: readonly unknown[], place: string): unknown {
  let result: Numeric = 1;
  for (const value of values) {
    if (isNullish(value)) return null;
    result = combine(
      result,
      numericIn(value, place),
      (x, y) => x * y,
      (x, y) => x * y,
    );
  }
  return result;
}

/** Integers that are numbers join bigints. */
function combine(
  a: Numeric,
  b: Numeric,
  compute: (a: number, b: number) => number,
  ofBigints: (a: bigint, b: bigint) => bigint,
): Numeric {
  if (typeof a === 'number' && typeof b === 'number') return compute(a, b);
  const [x, y] = [exact(a), exact(b)];
  return x === undefined || y === undefined ? compute(Number(a), Number(b)) : ofBigints(x, y);
}

function exact(value: Numeric): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return Number.isInteger(value) ? BigInt(value) : undefined;
}

/** @throws {CriteriaError} `operand_invalid` */
function wholeIn(value: unknown, place: string): bigint {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw wrongKind(place, 'a whole number', value);
}

/** @throws {CriteriaError} `operand_invalid` */
function numericIn(value: unknown, place: string): Numeric {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  throw wrongKind(place, 'a number', value);
}

function toDigits(
  value: unknown,
  digits: unknown,
  place: string,
  round: (value: number) => number,
): unknown {
  if (isNullish(value) || digits === null) return null;
  const numeric = numericIn(value, place);
  if (typeof numeric === 'bigint' || !Number.isFinite(numeric)) return numeric;
  const count = digits === undefined ? 0 : Number(numericIn(digits, place));
  if (!Number.isInteger(count) || count < -20 || count > 100)
    throw wrongKind(place, 'digits from -20 to 100', digits);
  // By its decimal text: 1.005 * 100 is no longer 100.5.
  const shifted = Number(shiftDecimal(numeric, count));
  return Number(shiftDecimal(round(shifted), -count));
}

function shiftDecimal(value: number, by: number): string {
  const [digits, exponent = '0'] = String(value).split('e');
  return `${digits}e${Number(exponent) + by}`;
}

/** Halves go to the even neighbour, as on the server. */
function roundEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Positions beyond are a mistake; binary values may be long. */
const MOST_BITS = 1 << 16;

/**
 * Tests bits of whole numbers, in two's complement, and of binary values, the first byte lowest.
 * Other values do not match.
 */
const bits =
  (test: (common: bigint, mask: bigint) => boolean): Operator =>
  (operand, { place }) => {
    const mask = maskOf(operand);
    if (mask === undefined)
      throw operandInvalid(place, 'a whole number from 0, a list of positions, or bytes', operand);
    return each((value) => {
      const set = bitsOf(value);
      return set !== undefined && test(set & mask, mask);
    });
  };

export const bitOperators = {
  $bitsAllSet: bits((common, mask) => common === mask),
  $bitsAnySet: bits((common) => common !== 0n),
  $bitsAllClear: bits((common) => common === 0n),
  $bitsAnyClear: bits((common, mask) => common !== mask),
};

function maskOf(operand: unknown): bigint | undefined {
  if (!Array.isArray(operand)) {
    const mask = bitsOf(operand);
    return mask !== undefined && mask >= 0n ? mask : undefined;
  }
  const isPosition = (at: unknown) =>
    Number.isInteger(at) && (at as number) >= 0 && (at as number) < MOST_BITS;
  if (!operand.every(isPosition)) return undefined;
  return operand.reduce((mask: bigint, at: number) => mask | (1n << BigInt(at)), 0n);
}

function bitsOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  if (!(buffer instanceof ArrayBuffer)) return undefined;
  const { byteOffset = 0, byteLength } = value as Partial<ArrayBufferView> & ArrayBuffer;
  const bytes = new Uint8Array(buffer, byteOffset, Math.min(byteLength, MOST_BITS / 8));
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return BigInt(`0x0${digits.reverse().join('')}`);
}
