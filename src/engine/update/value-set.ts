import { equalValues } from '../../query/value/compare-values.ts';

/** A set of values that are equal as queries compare them: objects by content, a bigint and its number alike. */
export class ValueSet {
  readonly #scalars = new Set<unknown>();
  readonly #others: unknown[] = [];

  constructor(values: Iterable<unknown>) {
    for (const value of values) this.add(value);
  }

  has(value: unknown): boolean {
    return isScalar(value)
      ? this.#scalars.has(scalarKey(value))
      : this.#others.some((other) => equalValues(other, value));
  }

  /** @returns whether it was new. */
  add(value: unknown): boolean {
    if (this.has(value)) return false;
    if (isScalar(value)) this.#scalars.add(scalarKey(value));
    else this.#others.push(value);
    return true;
  }
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function scalarKey(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isFinite(number) && BigInt(number) === value ? number : value;
}
