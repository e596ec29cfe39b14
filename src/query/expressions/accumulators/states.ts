import type { Compare } from '../../value/compare-values.ts';
import { isFields } from '../../value/value-type.ts';
import { isNullish, wrongKind } from '../operator.ts';

/** What an accumulator has seen of a group. */
export interface Accumulator {
  /**
   * @param value What `input` gives for a document; `undefined` where it is missing.
   * @param rank The place of the document in the order of the group; only invertible ones need it.
   */
  add(value: unknown, rank?: number): void;
  /** Never `undefined`. The state lives on, and shares its value with nobody. */
  result(): unknown;
}

/** The states of all groups of a run, by number. */
export interface States {
  /** Begins the next group. @throws {CriteriaError} `operand_invalid` */
  open(key: unknown): void;
  /** Adds to the group `groups[n]` the value at `rows[n]`, of so many. */
  addAll(groups: Int32Array, values: readonly unknown[], rows: Int32Array, length: number): void;
  /** To be called once for each group, when nothing more is added. */
  result(group: number): unknown;
}

export class StateList implements States {
  readonly #make: (key: unknown) => Accumulator;
  readonly #all: Accumulator[] = [];
  constructor(make: (key: unknown) => Accumulator) {
    this.#make = make;
  }
  open(key: unknown): void {
    this.#all.push(this.#make(key));
  }
  addAll(groups: Int32Array, values: readonly unknown[], rows: Int32Array, length: number): void {
    for (let at = 0; at < length; at++)
      (this.#all[groups[at] as number] as Accumulator).add(values[rows[at] as number]);
  }
  result(group: number): unknown {
    return (this.#all[group] as Accumulator).result();
  }
}

export class Count implements Accumulator {
  #count = 0;
  add(): void {
    this.#count++;
  }
  remove(): void {
    this.#count--;
  }
  result(): number {
    return this.#count;
  }
}

/** By Welford's method. */
export class Deviation implements Accumulator {
  readonly #spare: 0 | 1;
  #count = 0;
  #mean = 0;
  #squares = 0;
  /** @param spare 1 for a sample, 0 for a population. */
  constructor(spare: 0 | 1) {
    this.#spare = spare;
  }
  add(value: unknown): void {
    if (typeof value !== 'number' && typeof value !== 'bigint') return;
    const number = Number(value);
    const distance = number - this.#mean;
    this.#mean += distance / ++this.#count;
    this.#squares += distance * (number - this.#mean);
  }
  result(): number | null {
    const count = this.#count - this.#spare;
    return count <= 0 ? null : Math.sqrt(this.#squares / count);
  }
}

export class Extreme implements Accumulator {
  readonly #sign: 1 | -1;
  readonly #compare: Compare;
  #value: unknown = null;
  constructor(sign: 1 | -1, compare: Compare) {
    this.#sign = sign;
    this.#compare = compare;
  }
  add(value: unknown): void {
    if (isNullish(value)) return;
    if (this.#value === null || this.#sign * this.#compare(value, this.#value) > 0)
      this.#value = value;
  }
  result(): unknown {
    return this.#value;
  }
}

export class First implements Accumulator {
  #value: unknown;
  #isSet = false;
  add(value: unknown): void {
    if (this.#isSet) return;
    this.#isSet = true;
    this.#value = value;
  }
  result(): unknown {
    return this.#value ?? null;
  }
}

export class Last implements Accumulator {
  #value: unknown;
  add(value: unknown): void {
    this.#value = value;
  }
  result(): unknown {
    return this.#value ?? null;
  }
}

export class Pushed implements Accumulator {
  readonly #values: unknown[] = [];
  add(value: unknown): void {
    if (value !== undefined) this.#values.push(value);
  }
  result(): unknown[] {
    return this.#values.slice();
  }
}

/** In the order of values: a set has none of its own. */
export class Distinct implements Accumulator {
  readonly #values = new Map<unknown, unknown>();
  readonly #keyOf: (value: unknown) => unknown;
  readonly #compare: Compare;
  constructor(keyOf: (value: unknown) => unknown, compare: Compare) {
    this.#keyOf = keyOf;
    this.#compare = compare;
  }
  add(value: unknown): void {
    const key = this.#keyOf(value);
    if (value !== undefined && !this.#values.has(key)) this.#values.set(key, value);
  }
  result(): unknown[] {
    return [...this.#values.values()].sort(this.#compare);
  }
}

export class Merged implements Accumulator {
  readonly #place: string;
  readonly #fields: Record<string, unknown> = {};
  /** @param place Where the accumulator stands. */
  constructor(place: string) {
    this.#place = place;
  }
  /** @throws {CriteriaError} `operand_invalid` */
  add(value: unknown): void {
    if (isNullish(value)) return;
    if (!isFields(value)) throw wrongKind(this.#place, 'an object', value);
    Object.assign(this.#fields, value);
  }
  result(): unknown {
    return { ...this.#fields };
  }
}
