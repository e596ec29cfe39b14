import type { Body } from '../../codec/body.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** A document of a live query. A changed document is a new match. */
export interface Match {
  /** The latest version examined. */
  record: StoredRecord;
  /** The sort key. */
  readonly sort: unknown;
  /** The body that the reader has, where it is not the record's own. */
  told: Body | undefined;
}

/** Number of changes from which sorting anew is cheaper than moving each. */
const MANY = 64;

/**
 * Matches in order. With a bound only the first are kept, plus a reserve, so that a few may go before the query runs
 * again.
 */
export class OrderedMatches {
  readonly #compare: (a: Match, b: Match) => number;
  /** Most matches kept. */
  readonly most: number;
  readonly #bound: number;
  /** Invariant: in order, and no match that is left out precedes the last. */
  #list: Match[] = [];
  /** Invariant: the same matches as in the list, by key. */
  readonly #byKey = new Map<string, Match>();
  #complete = true;

  /** @param bound Number of matches that must be known; Infinity for all. */
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

  /** Whether a match that was left out may belong among the first now. */
  get short(): boolean {
    return !this.#complete && this.#list.length < this.#bound;
  }

  sameOrder(a: Match, b: Match): boolean {
    return this.#compare(a, b) === 0;
  }

  /** Starts anew with all matches in any order; with the first ones only where `complete` is false. */
  reset(matches: Match[], complete: boolean): void {
    this.#list = matches.sort(this.#compare);
    this.#complete = complete;
    this.#byKey.clear();
    for (const match of matches) this.#byKey.set(match.record.key, match);
    this.#cut();
  }

  /** Removes old matches and inserts new ones. */
  replace(out: readonly Match[], into: readonly Match[]): void {
    // Before the removal: the order behind the last match is unknown.
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

  /** The index of a match: how many precede it. */
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
