import { LeafList, type Ranked } from '../../index/leaf-list.ts';
import type { Compare } from '../../value/compare-values.ts';
import { isNullish } from '../operator.ts';
import type { Accumulator } from './states.ts';

/** A state that documents leave again. */
export interface InvertibleAccumulator extends Accumulator {
  add(value: unknown, rank: number): void;
  /** @param value What was added with this rank. */
  remove(value: unknown, rank: number): void;
}

/** The order of ranks alone. */
export const BY_RANK: Compare = () => 0;

export const descending =
  (compare: Compare): Compare =>
  (a, b) =>
    compare(b, a);

export const isThere = (value: unknown): boolean => !isNullish(value);

/** The state of `$firstN` and its kin; without an order that of ranks. */
export function fewOf(
  compare: Compare | undefined,
  atEnd: boolean,
  count: number,
  most = count,
): Ordered {
  const accepts = compare ? isThere : () => true;
  return new Ordered(compare ?? BY_RANK, accepts, (all) => all.few(count, atEnd), most, atEnd);
}

/** Values of a group in an order, equal ones by rank. */
export class Ordered implements InvertibleAccumulator {
  readonly #values: LeafList<unknown, Ranked>;
  readonly #compare: Compare;
  readonly #accepts: (value: unknown) => boolean;
  readonly #read: (ordered: Ordered) => unknown;
  readonly #most: number;
  readonly #atEnd: boolean;
  #size = 0;
  #added = 0;

  /**
   * @param accepts Whether a value counts.
   * @param read Makes the result.
   * @param most How many values are kept, the first ones: of all, what comes first may leave again.
   * @param atEnd Whether the last ones are kept instead.
   */
  constructor(
    compare: Compare,
    accepts: (value: unknown) => boolean,
    read: (ordered: Ordered) => unknown,
    most = Number.POSITIVE_INFINITY,
    atEnd = false,
  ) {
    this.#values = new LeafList(compare);
    this.#compare = compare;
    this.#accepts = accepts;
    this.#read = read;
    this.#most = most;
    this.#atEnd = atEnd;
  }

  add(value: unknown, rank = this.#added++): void {
    if (!this.#accepts(value)) return;
    const values = this.#values;
    if (this.#size < this.#most) {
      this.#size++;
      values.add(value, { rank });
      return;
    }
    const number = this.#atEnd ? 0 : values.length - 1;
    const { keys = [] } = values.at(number) ?? {};
    const at = this.#atEnd ? 0 : keys.length - 1;
    const order = this.#compare(value, keys[at]);
    // Most come behind the worst of them.
    if (this.#atEnd ? order < 0 : order >= 0) return;
    values.removeAt({ number, at });
    values.add(value, { rank });
  }

  remove(value: unknown, rank: number): void {
    const position = this.#accepts(value) ? this.#values.find(value, rank) : undefined;
    if (position) this.#values.removeAt(position);
  }

  result(): unknown {
    return this.#read(this);
  }

  /** The first values, or the last ones, in order. */
  few(count: number, atEnd: boolean): unknown[] {
    const found: unknown[][] = [];
    const leaves = this.#values;
    let missing = count;
    for (let step = 0; step < leaves.length && missing > 0; step++) {
      const { keys = [] } = leaves.at(atEnd ? leaves.length - 1 - step : step) ?? {};
      found.push(atEnd ? keys.slice(-missing) : keys.slice(0, missing));
      missing -= keys.length;
    }
    return (atEnd ? found.reverse() : found).flat(1);
  }

  distinct(): unknown[] {
    const found: unknown[] = [];
    const leaves = this.#values;
    let [number, at] = [0, 0];
    for (;;) {
      const { keys = [] } = leaves.at(number) ?? {};
      if (number >= leaves.length) return found;
      if (at >= keys.length) [number, at] = [number + 1, 0];
      else {
        const value = keys[at];
        found.push(value);
        ({ number, at } = leaves.seek((key) => this.#compare(key, value) > 0));
      }
    }
  }
}
