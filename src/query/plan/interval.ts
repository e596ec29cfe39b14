import { type Scalar, scalarOf } from '../index/index-key.ts';
import * as bracket from '../value/bracket.ts';
import { type Compare, isNaNValue } from '../value/compare-values.ts';
import { type Bracket, bracketOf, isRegExp } from '../value/value-type.ts';

/** Keys between two scalars, including a bound unless it is open. */
export interface Interval {
  readonly from: Scalar;
  readonly to: Scalar;
  readonly fromOpen: boolean;
  readonly toOpen: boolean;
}

function point(value: Scalar): Interval {
  return { from: value, to: value, fromOpen: false, toOpen: false };
}

export function isPoint({ from, to }: Interval, compare: Compare): boolean {
  return compare(from, to) === 0;
}

type Limits = readonly [from: Scalar, to: Scalar, fromOpen: boolean, toOpen: boolean];

/**
 * The keys that a comparison can match at most: the type bracket of its operand, without NaN. Among
 * keys, booleans follow strings.
 */
const limits: Partial<Record<Bracket, Limits>> = {
  [bracket.numeric]: [Number.NaN, Number.POSITIVE_INFINITY, true, false],
  [bracket.string]: ['', false, false, true],
  [bracket.boolean]: [false, true, false, false],
  [bracket.date]: [new Date(Number.NaN), new Date(8.64e15), true, false],
};

/**
 * The keys that fulfil `$eq`, `$gt`, `$gte`, `$lt` or `$lte`; `undefined` if keys cannot decide it.
 * The intervals are disjoint and ascend.
 */
export function intervalsOf(
  operator: string,
  operand: unknown,
  compare: Compare,
): readonly Interval[] | undefined {
  const value = scalarOf(operand);
  if (value === undefined) return undefined;
  if (operator === '$eq') return [point(value)];
  const bounds = limits[bracketOf(value)];
  // Null, NaN and an invalid Date are equal to themselves and neither less nor greater than
  // anything.
  if (!bounds || isNaNValue(typeof value === 'object' ? Number(value) : value)) {
    return operator.endsWith('e') ? [point(value)] : [];
  }
  const [from, to, fromOpen, toOpen] = bounds;
  const interval = operator.startsWith('$g')
    ? { from: value, to, fromOpen: operator === '$gt', toOpen }
    : { from, to: value, fromOpen, toOpen: operator === '$lt' };
  return isEmpty(interval, compare) ? [] : [interval];
}

/** The keys that fulfil `$in`; `undefined` if keys cannot decide it. */
export function intervalsOfAny(
  items: readonly unknown[],
  compare: Compare,
): readonly Interval[] | undefined {
  const found: Interval[] = [];
  for (const item of items) {
    const interval = isRegExp(item)
      ? code?.prefixInterval(item, compare)
      : intervalsOf('$eq', item, compare)?.[0];
    if (!interval) return undefined;
    found.push(interval);
  }
  found.sort((a, b) => compareFrom(a, b, compare));
  const merged: Interval[] = [];
  for (const interval of found) {
    const last = merged.at(-1);
    if (!last || compare(last.to, interval.from) < 0) {
      merged.push(interval);
    } else if (compareTo(last, interval, compare) < 0) {
      merged[merged.length - 1] = { ...interval, from: last.from, fromOpen: last.fromOpen };
    }
  }
  return merged;
}

/** What the part with the code of patterns knows of them. */
interface Prefixes {
  readonly prefixInterval: (pattern: RegExp, compare: Compare) => Interval | undefined;
  readonly isPrefixOnly: (pattern: RegExp) => boolean;
}

let code: Prefixes | undefined;

/** To be called by the part that has it, once it has loaded. */
export function providePrefixes(given: Prefixes): void {
  code = given;
}

/** A function: another file would keep the first value of what is exported. */
export function prefixes(): Prefixes | undefined {
  return code;
}

export function intersect(
  a: readonly Interval[],
  b: readonly Interval[],
  compare: Compare,
): readonly Interval[] {
  const common: Interval[] = [];
  for (let left = 0, right = 0; left < a.length && right < b.length; ) {
    const one = a[left] as Interval;
    const other = b[right] as Interval;
    const { from, fromOpen } = compareFrom(one, other, compare) < 0 ? other : one;
    const { to, toOpen } = compareTo(one, other, compare) < 0 ? one : other;
    const both = { from, to, fromOpen, toOpen };
    if (!isEmpty(both, compare)) common.push(both);
    if (compareTo(one, other, compare) < 0) left++;
    else right++;
  }
  return common;
}

/** Whether every key of some intervals is in others. */
export function isWithin(
  inner: readonly Interval[],
  outer: readonly Interval[],
  compare: Compare,
): boolean {
  return inner.every((one) =>
    outer.some((own) => compareFrom(own, one, compare) <= 0 && compareTo(one, own, compare) <= 0),
  );
}

function compareFrom(a: Interval, b: Interval, compare: Compare): number {
  return compare(a.from, b.from) || Number(a.fromOpen) - Number(b.fromOpen);
}

function compareTo(a: Interval, b: Interval, compare: Compare): number {
  return compare(a.to, b.to) || Number(b.toOpen) - Number(a.toOpen);
}

function isEmpty({ from, to, fromOpen, toOpen }: Interval, compare: Compare): boolean {
  return compare(from, to) >= (fromOpen || toOpen ? 0 : 1);
}
