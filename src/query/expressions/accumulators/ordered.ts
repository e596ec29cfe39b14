import { LeafList, type Ranked } from '../../index/leaf-list.ts';
import type { Compare } from '../../value/compare-values.ts';
import type { Accumulator } from './states.ts';

/** A state that documents leave again. */
export interface InvertibleAccumulator extends Accumulator {
  add(value: unknown, rank: number): void;
  /** @param value What was added with this rank. */
  remove(value: unknown, rank: number): void;
}

/** The order of ranks alone. */
export const BY_RANK: Compare = () => 0;

/** All values of a group in an order, equal ones by rank: what comes first may leave again. */
export class Ordered implements InvertibleAccumulator {
  readonly #values: LeafList<unknown, Ranked>;
  readonly #compare: Compare;
  readonly #accepts: (value: unknown) => boolean;
  readonly #read: (ordered: Ordered) => unknown;

  /**
   * @param accepts Whether a value counts.
   * @param read Makes the result.
   */
  constructor(
    compare: Compare,
    accepts: (value: unknown) => boolean,
    read: (ordered: Ordered) => unknown,
  ) {
    this.#values = new LeafList(compare);
    this.#compare = compare;
    this.#accepts = accepts;
    this.#read = read;
  }

  add(value: unknown, rank: number): void {
    if (this.#accepts(value)) this.#values.add(value, { rank });
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

  /** The first of equal values each. */
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
