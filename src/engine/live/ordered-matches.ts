import type { Body } from '../../codec/body.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** A document of a live query. A changed one is another match. */
export interface Match {
  /** The version that was looked at last. */
  record: StoredRecord;
  /** What the order compares. */
  readonly sort: unknown;
  /** What was told of it, where that is not the record's own body. */
  told: Body | undefined;
}

/** From how many changes on sorting anew is cheaper than moving each. */
const MANY = 64;

/**
 * Matches in order. With a bound only the first are kept, and so many more that a few may go before the
 * rest has to be looked for again.
 */
export class OrderedMatches {
  readonly #compare: (a: Match, b: Match) => number;
  /** How many are kept at the most. */
  readonly most: number;
  readonly #bound: number;
  /** Invariant: in order, and nothing that is left out comes before the last. */
  #list: Match[] = [];
  /** Invariant: holds exactly what the list holds, by key. */
  readonly #byKey = new Map<string, Match>();
  #complete = true;

  /** @param bound How many have to be known; Infinity for all. */
  constructor(bound: number, compare: (a: unknown, b: unknown) => number) {
    this.#bound = bound;
    this.most = 2 * bound + 32;
    this.#compare = (a, b) => compare(a.sort, b.sort) || a.record.rank - b.record.rank;
  }

  get list(): readonly Match[] {
    return this.#list;
  }

  get(key: string): Match | undefined {
    return this.#byKey.get(key);
  }

  /** Whether something that was left out belongs among the first by now. */
  get short(): boolean {
    return !this.#complete && this.#list.length < this.#bound;
  }

  sameOrder(a: Match, b: Match): boolean {
    return this.#compare(a, b) === 0;
  }

  /** Starts anew with all that there are, or with the first where `complete` is false, in any order. */
  reset(matches: Match[], complete: boolean): void {
    this.#list = matches.sort(this.#compare);
    this.#complete = complete;
    this.#byKey.clear();
    for (const match of matches) this.#byKey.set(match.record.key, match);
    this.#cut();
  }

  /** Takes old matches out and puts new ones in their places. */
  replace(out: readonly Match[], into: readonly Match[]): void {
    // Before something is taken out: what comes behind the last is unknown ground.
    const known = this.#complete ? into : into.filter((match) => !this.#isBeyond(match));
    if (out.length + into.length > MANY) {
      for (const { record } of out) this.#byKey.delete(record.key);
      this.reset([...this.#byKey.values(), ...known], this.#complete);
      return;
    }
    for (const match of out) {
      this.#list.splice(this.#placeOf(match), 1);
      this.#byKey.delete(match.record.key);
    }
    for (const match of known) {
      this.#list.splice(this.#placeOf(match), 0, match);
      this.#byKey.set(match.record.key, match);
    }
    this.#cut();
  }

  #cut(): void {
    for (const match of this.#list.splice(this.most)) {
      this.#byKey.delete(match.record.key);
      this.#complete = false;
    }
  }

  #isBeyond(match: Match): boolean {
    const last = this.#list.at(-1);
    return !last || this.#compare(match, last) > 0;
  }

  /** How many come before it. */
  #placeOf(match: Match): number {
    let from = 0;
    let to = this.#list.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#compare(this.#list[middle] as Match, match) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
