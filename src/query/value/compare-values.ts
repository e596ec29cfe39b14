import { firstWhere } from '../../codec/first-where.ts';
import { rawBytes } from '../../codec/kinds.ts';
import { ValueError } from '../../errors/errors.ts';
import * as bracket from './bracket.ts';
import { bracketOf } from './value-type.ts';

/**
 * Far above the depth of stored values, far below the native stack: a deeper operand ends in a
 * typed error and not in a RangeError.
 */
const MAX_DEPTH = 1000;

/**
 * A total order over all values, as in BSON: first by {@link bracket}, then by value. Negative if
 * `a` is less, 0 if both are equal, positive otherwise.
 *
 * NaN is the least number and equals itself, -0 equals 0, a bigint compares with numbers by its
 * numeric value. Strings compare by code unit. Objects and Maps compare entry by entry in their own
 * order: bracket of the value, key, value; so `{ a: 1, b: 2 }` and `{ b: 2, a: 1 }` differ.
 */
export function compareValues(a: unknown, b: unknown): number {
  return compareAt(a, b, 0, compareStrings);
}

/** Negative if `a` is less, 0 if both are equal, positive otherwise. */
export type Compare = (a: unknown, b: unknown) => number;

type CompareStrings = (a: string, b: string) => number;

/** {@link compareValues}, with another order of strings, those inside of other values too. */
export function comparesStringsBy(strings: CompareStrings): Compare {
  return (a, b) => compareAt(a, b, 0, strings);
}

/** Whether two values are equal, exactly when {@link compareValues} gives 0. */
export function equalValues(a: unknown, b: unknown): boolean {
  return a === b || compareAt(a, b, 0, compareStrings) === 0;
}

/** Whether a number or bigint is NaN. */
export function isNaNValue(value: unknown): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

function compareAt(a: unknown, b: unknown, depth: number, strings: CompareStrings): number {
  if (a === b) return 0;
  const bracketA = bracketOf(a);
  const bracketB = bracketOf(b);
  if (bracketA !== bracketB) return bracketA - bracketB;
  if (depth > MAX_DEPTH) {
    throw new ValueError(
      'value_too_deep',
      `A value nested over ${MAX_DEPTH} levels cannot be compared.`,
    );
  }
  switch (bracketA) {
    case bracket.numeric:
      return compareNumbers(a as number, b as number);
    case bracket.string:
      return strings(a as string, b as string);
    case bracket.boolean:
      return a === false ? -1 : 1;
    case bracket.date:
      return compareNumbers((a as Date).getTime(), (b as Date).getTime());
    case bracket.array:
      return compareSequences(a as unknown[], b as unknown[], depth, strings);
    case bracket.object:
      return compareFields(a as Fields, b as Fields, depth, strings);
    case bracket.map:
      return compareEntries([...(a as Entries)], [...(b as Entries)], depth, strings);
    case bracket.set:
      return compareSequences([...(a as Set<unknown>)], [...(b as Set<unknown>)], depth, strings);
    case bracket.binary:
      return compareBinary(a as ArrayBuffer, b as ArrayBuffer);
    case bracket.regexp:
      return compareRegExps(a as RegExp, b as RegExp);
    case bracket.blob:
      return compareBlobs(a as Blob, b as Blob);
    default:
      return ordinalOf(a as object) - ordinalOf(b as object);
  }
}

type Fields = Record<string, unknown>;

type Entries = Map<unknown, unknown>;

function compareNumbers(a: number | bigint, b: number | bigint): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(isNaNValue(b)) - Number(isNaNValue(a));
}

function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function compareSequences(
  a: readonly unknown[],
  b: readonly unknown[],
  depth: number,
  strings: CompareStrings,
): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const order = compareAt(a[index], b[index], depth + 1, strings);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareFields(a: Fields, b: Fields, depth: number, strings: CompareStrings): number {
  const keysA = Object.keys(a);
  const keysB = Object.keys(b);
  const length = Math.min(keysA.length, keysB.length);
  for (let index = 0; index < length; index++) {
    const keyA = keysA[index] as string;
    const keyB = keysB[index] as string;
    const valueA = a[keyA];
    const valueB = b[keyB];
    const order =
      bracketOf(valueA) - bracketOf(valueB) ||
      compareStrings(keyA, keyB) ||
      compareAt(valueA, valueB, depth + 1, strings);
    if (order !== 0) return order;
  }
  return keysA.length - keysB.length;
}

function compareEntries(
  a: [unknown, unknown][],
  b: [unknown, unknown][],
  depth: number,
  strings: CompareStrings,
): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [keyA, valueA] = a[index] as [unknown, unknown];
    const [keyB, valueB] = b[index] as [unknown, unknown];
    const order =
      bracketOf(valueA) - bracketOf(valueB) ||
      compareAt(keyA, keyB, depth + 1, strings) ||
      compareAt(valueA, valueB, depth + 1, strings);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareRegExps(a: RegExp, b: RegExp): number {
  return compareStrings(a.source, b.source) || compareStrings(a.flags, b.flags);
}

/**
 * A Blob's content cannot be read synchronously, so two Blobs are equal only when they are the same
 * object, as keys and handles are. Those of one size and type are numbered at first sight, which
 * keeps the order total.
 */
const ordinals = new WeakMap<object, number>();
let lastOrdinal = 0;

function compareBlobs(a: Blob, b: Blob): number {
  return a.size - b.size || compareStrings(a.type, b.type) || ordinalOf(a) - ordinalOf(b);
}

function ordinalOf(value: object): number {
  const ordinal = ordinals.get(value) ?? ++lastOrdinal;
  ordinals.set(value, ordinal);
  return ordinal;
}

/**
 * {@link compareValues} with a fast path for two numbers, strings or dates, which nearly all keys
 * are.
 */
export function compareScalars(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') {
    if (a < b) return -1;
    if (a > b) return 1;
    return a === b ? 0 : compareValues(a, b); // NaN
  }
  if (typeof a === 'string' && typeof b === 'string') {
    if (a === b) return 0;
    return a < b ? -1 : 1;
  }
  if (a instanceof Date && b instanceof Date) return compareScalars(a.getTime(), b.getTime());
  return compareValues(a, b);
}

/** Compares binary values as BSON does: by length, then by type, then byte by byte. */
function compareBinary(a: ArrayBuffer | ArrayBufferView, b: ArrayBuffer | ArrayBufferView): number {
  return (
    a.byteLength - b.byteLength ||
    compareStrings(kindOf(a), kindOf(b)) ||
    compareBytes(rawBytes(a), rawBytes(b))
  );
}

const kindOf = (value: object): string => Object.prototype.toString.call(value);

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let index = 0; index < a.length; index++) {
    const order = (a[index] as number) - (b[index] as number);
    if (order !== 0) return order;
  }
  return 0;
}

/** Whether a value equals one of a list that is sorted by the same order. */
export function isAmong(sorted: readonly unknown[], value: unknown, compare: Compare): boolean {
  const at = firstWhere(0, sorted.length, (index) => compare(sorted[index], value) >= 0);
  return at < sorted.length && compare(sorted[at], value) === 0;
}
