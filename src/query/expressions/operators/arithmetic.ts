import {
  argumentsOf,
  type ExpressionOperator,
  isNullish,
  ofArguments,
  wrongKind,
} from '../operator.ts';

type Numeric = number | bigint;

const MANY = 1000;

/** A function of one number; null and missing give null. What has no result is refused. */
const ofNumber = (compute: (value: number) => number): ExpressionOperator =>
  ofArguments(1, 1, (place) => (value: unknown) => {
    if (isNullish(value)) return null;
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
  return ofArguments(0, MANY, (place) => (...values: unknown[]) => {
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
  ofArguments(1, 1, (place) => (value: unknown) => {
    if (isNullish(value)) return null;
    const numeric = numericIn(value, place);
    return typeof numeric === 'bigint' ? ofBigint(numeric) : compute(numeric);
  });

/** A function of two numbers. A number and a bigint are computed as numbers, as the server does. */
const ofTwo = (
  compute: (a: number, b: number) => number,
  isDefined: (a: number, b: number) => boolean = () => true,
): ExpressionOperator =>
  ofArguments(2, 2, (place) => (a: unknown, b: unknown) => {
    if (isNullish(a) || isNullish(b)) return null;
    const [one, other] = [Number(numericIn(a, place)), Number(numericIn(b, place))];
    if (!isDefined(one, other)) throw wrongKind(place, 'numbers for which it is defined', a);
    return compute(one, other);
  });

/** Not of 0, whose logarithm is infinite. */
function logarithm(compute: (value: number) => number): (value: number) => number {
  return (value) => (value === 0 ? Number.NaN : compute(value));
}

/** Functions of one number. */
const functions = {
  ...{ $sqrt: Math.sqrt, $exp: Math.exp, $ln: logarithm(Math.log), $log10: logarithm(Math.log10) },
  ...{ $sin: Math.sin, $cos: Math.cos, $tan: Math.tan },
  ...{ $asin: Math.asin, $acos: Math.acos, $atan: Math.atan },
  ...{ $sinh: Math.sinh, $cosh: Math.cosh, $tanh: Math.tanh },
  ...{ $asinh: Math.asinh, $acosh: Math.acosh, $atanh: Math.atanh },
  $degreesToRadians: (value: number) => (value * Math.PI) / 180,
  $radiansToDegrees: (value: number) => (value * 180) / Math.PI,
};

export const arithmetic = {
  ...(Object.fromEntries(
    Object.entries(functions).map(([name, compute]) => [name, ofNumber(compute)]),
  ) as Record<keyof typeof functions, ExpressionOperator>),
  $add: ofMany((a, b) => a + b, sum),
  $subtract: ofArguments(2, 2, (place) => (a: unknown, b: unknown) => {
    if (isNullish(a) || isNullish(b)) return null;
    if (a instanceof Date)
      return b instanceof Date
        ? a.getTime() - b.getTime()
        : new Date(a.getTime() - Number(numericIn(b, place)));
    return combine(
      numericIn(a, place),
      numericIn(b, place),
      (x, y) => x - y,
      (x, y) => x - y,
    );
  }),
  $multiply: ofMany((a, b) => a * b, product),
  $divide: ofArguments(2, 2, (place) => (a: unknown, b: unknown) => {
    if (isNullish(a) || isNullish(b)) return null;
    const divisor = Number(numericIn(b, place));
    if (divisor === 0) throw wrongKind(place, 'a divisor other than 0', b);
    return Number(numericIn(a, place)) / divisor;
  }),
  $mod: ofArguments(2, 2, (place) => (a: unknown, b: unknown) => {
    if (isNullish(a) || isNullish(b)) return null;
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
  $round: ofArguments(
    1,
    2,
    (place) => (value: unknown, digits: unknown) => toDigits(value, digits, place, roundEven),
  ),
  $trunc: ofArguments(
    1,
    2,
    (place) => (value: unknown, digits: unknown) => toDigits(value, digits, place, Math.trunc),
  ),
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
  $bitNot: ofArguments(1, 1, (place) => (value: unknown) => {
    if (isNullish(value)) return null;
    return typeof value === 'bigint' ? ~value : -1 - Number(wholeIn(value, place));
  }),
} satisfies Record<string, ExpressionOperator>;

/** The sum of numbers, or a date and numbers of milliseconds. */
function sum(values: readonly unknown[], place: string): unknown {
  let total: Numeric = 0;
  let hasDate = false;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (value instanceof Date) {
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
  return hasDate ? new Date(Number(total)) : total;
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
