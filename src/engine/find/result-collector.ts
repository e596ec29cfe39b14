import type { SortKey, SortOrder } from '../../query/sort/compile-sort.ts';
import { TopN } from '../../query/sort/top-n.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** Where a page ends: the sort key of its last document, and that one's rank. */
export interface CollectedPageEnd {
  readonly key: SortKey;
  readonly rank: number;
}

interface Keyed {
  readonly key: SortKey;
  readonly record: StoredRecord;
}

/** Collects the first matches of an order, up to a limit. */
export interface ResultCollector {
  /**
   * Takes a match. `false` once no later one can change the result.
   *
   * @param document What the order looks at; left out where it does not matter.
   */
  add(record: StoredRecord, document?: object): boolean;
  /** The greatest rank that still counts, for candidates in the order of ranks. */
  readonly worst: number;
  records(): StoredRecord[];
}

/** Matches that come in their order: the first `most`. */
export class FirstMatches implements ResultCollector {
  readonly worst = Number.POSITIVE_INFINITY;
  readonly most: number;
  readonly #records: StoredRecord[] = [];

  constructor(most: number) {
    this.most = most;
  }

  add(record: StoredRecord): boolean {
    if (this.#records.length < this.most) this.#records.push(record);
    return this.#records.length < this.most;
  }

  records(): StoredRecord[] {
    return this.#records;
  }
}

export class CountedMatches implements ResultCollector {
  readonly worst = Number.POSITIVE_INFINITY;
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get count(): number {
    return Math.min(this.#count, this.#most);
  }

  add(): boolean {
    return ++this.#count < this.#most;
  }

  records(): StoredRecord[] {
    return [];
  }
}

/** Matches that come in any order: the `most` that were inserted first. */
export class OldestMatches implements ResultCollector {
  readonly #top: TopN<StoredRecord>;

  constructor(most: number) {
    this.#top = new TopN(most, (a, b) => a.rank - b.rank);
  }

  get worst(): number {
    return this.#top.worst?.rank ?? Number.POSITIVE_INFINITY;
  }

  add(record: StoredRecord): boolean {
    this.#top.add(record);
    return true;
  }

  records(): StoredRecord[] {
    return this.#top.sorted();
  }
}

/** Matches that come in any order: the `most` that sort first, equal ones by rank of insertion. */
export class SortedMatches implements ResultCollector {
  readonly worst = Number.POSITIVE_INFINITY;
  readonly #order: SortOrder;
  readonly #after: CollectedPageEnd | undefined;
  readonly #top: TopN<Keyed>;

  constructor(order: SortOrder, most: number, after: CollectedPageEnd | undefined) {
    this.#order = order;
    this.#after = after;
    const { compare } = order;
    this.#top = new TopN(most, (a, b) => compare(a.key, b.key) || a.record.rank - b.record.rank);
  }

  /** The key that a document has to come before, `undefined` while there is room. */
  get worstKey(): SortKey | undefined {
    return this.#top.worst?.key;
  }

  add(record: StoredRecord, document: object): boolean {
    const key = this.#order.keyOf(document);
    const { worst } = this.#top;
    const after = this.#after;
    // Refused before anything is made for it.
    if (worst && this.#compare(key, record, worst.key, worst.record.rank) >= 0) return true;
    if (after && this.#compare(key, record, after.key, after.rank) <= 0) return true;
    this.#top.add({ key, record });
    return true;
  }

  #compare(key: SortKey, record: StoredRecord, other: SortKey, order: number): number {
    return this.#order.compare(key, other) || record.rank - order;
  }

  records(): StoredRecord[] {
    return this.#top.sorted().map(({ record }) => record);
  }
}
