import { compareValues, equalValues } from '../../query/value/compare-values.ts';

/**
 * A set of values that are equal as queries compare them: objects by content, a bigint and its number alike. Objects are
 * sorted: comparing each with all others takes seconds where an array has thousands.
 */
export class ValueSet {
  readonly #scalars = new Set<unknown>();
  readonly #others: unknown[] = [];
  #lookups = 0;

  constructor(values: Iterable<unknown>) {
    for (const value of values) {
      if (isScalar(value)) this.#scalars.add(scalarKey(value));
      else this.#others.push(value);
    }
  }

  has(value: unknown): boolean {
    if (isScalar(value)) return this.#scalars.has(scalarKey(value));
    this.#lookups++;
    // Sorting pays from the second lookup on.
    if (this.#lookups === 1) return this.#others.some((other) => equalValues(other, value));
    if (this.#lookups === 2) this.#others.sort(compareValues);
    return this.#findSorted(value);
  }

  #findSorted(value: unknown): boolean {
    let [from, to] = [0, this.#others.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const order = compareValues(this.#others[middle], value);
      if (order === 0) return true;
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return false;
  }
}

/** The values without those that equal an earlier one. */
export function distinct(values: readonly unknown[]): unknown[] {
  const scalars = new Set<unknown>();
  const isKept = values.map((value) => {
    if (!isScalar(value)) return true;
    const { size } = scalars;
    return scalars.add(scalarKey(value)).size > size;
  });
  const others = [...values.keys()].filter((index) => !isScalar(values[index]));
  // Stable: the first of equal values stays first.
  others.sort((a, b) => compareValues(values[a], values[b]));
  others.forEach((index, at) => {
    const before = others[at - 1];
    if (before !== undefined && equalValues(values[before], values[index])) isKept[index] = false;
  });
  return values.filter((_, index) => isKept[index]);
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function scalarKey(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isFinite(number) && BigInt(number) === value ? number : value;
}
