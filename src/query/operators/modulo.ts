import { each } from '../criteria/condition.ts';
import { operandInvalid, placeBelow } from '../query-errors.ts';
import type { Operator } from './operator.ts';

const LONG_LIMIT = 2 ** 63;

/** Truncates first, as the server does. A number outside of a long is an invalid operand, and never matches. */
export const $mod: Operator = (operand, { place }) => {
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

function isZero(value: Whole): boolean {
  return value === 0 || value === 0n;
}
