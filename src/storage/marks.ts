/** How far a client's changes are in storage: the highest of its numbers, and when it was saved, in Unix milliseconds. */
export type Mark = readonly [client: string, number: number, at: number];

/** Far longer than any page keeps changes that it was told of and that were not saved. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** So many marks stay whatever the clock says: it may jump. */
const KEPT_AT_LEAST = 256;

/**
 * Up to which number the changes of each client are among those of a collection. Clients hand on what they were
 * told of and have not heard to be saved; what was saved all the same must not be made twice.
 */
export class Marks {
  readonly #byClient = new Map<string, Mark>();

  /** The highest number of a client, 0 where there is none. */
  of(client: string): number {
    return this.#byClient.get(client)?.[1] ?? 0;
  }

  get size(): number {
    return this.#byClient.size;
  }

  /** Notes a number; a lower one than before changes nothing. */
  note(client: string, number: number, at: number): void {
    if (number > this.of(client)) this.#byClient.set(client, [client, number, at]);
  }

  take(marks: Iterable<Mark>): void {
    for (const [client, number, at] of marks) this.note(client, number, at);
  }

  clear(): void {
    this.#byClient.clear();
  }

  [Symbol.iterator](): Iterator<Mark> {
    return this.#byClient.values();
  }

  /** Those that a client may still ask for. */
  recent(): readonly Mark[] {
    const all = [...this.#byClient.values()];
    if (all.length <= KEPT_AT_LEAST) return all;
    all.sort((a, b) => b[2] - a[2]);
    const newest = all[0]?.[2] ?? 0;
    return all.filter(([, , at], index) => index < KEPT_AT_LEAST || newest - at < KEPT_MS);
  }
}
