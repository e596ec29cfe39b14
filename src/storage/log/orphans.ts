import type { LiveSegments } from './live-segments.ts';

/** Segments in storage that are not live. Unless a backup references them, they are garbage. */
export class Orphans {
  readonly #live: LiveSegments;
  readonly #referenced: () => Promise<ReadonlySet<number>>;
  #numbers = new Set<number>();

  /** @param referenced The segments that backups reference. */
  constructor(live: LiveSegments, referenced: () => Promise<ReadonlySet<number>>) {
    this.#live = live;
    this.#referenced = referenced;
  }

  /** Live segments among these are no orphans. */
  add(numbers: Iterable<number>): void {
    for (const number of numbers) if (!this.#live.states.has(number)) this.#numbers.add(number);
  }

  /** Where data is damaged nothing is garbage: which segments are live is not known. */
  async findGarbage(): Promise<readonly number[]> {
    if (this.#numbers.size === 0 || !this.#live.isKnown) return [];
    const referenced = await this.#referenced();
    // The others come back through `add` when their backup is deleted.
    this.#numbers = new Set([...this.#numbers].filter((number) => !referenced.has(number)));
    return [...this.#numbers];
  }

  forget(numbers: Iterable<number>): void {
    for (const number of numbers) this.#numbers.delete(number);
  }
}
