import { each } from '../../criteria/condition.ts';
import type { Operator } from '../../criteria/operators/operator.ts';
import { operandInvalid } from '../../query-errors.ts';

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
