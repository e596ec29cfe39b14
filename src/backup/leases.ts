/** Leases on segments: garbage collection keeps leased segments, also those of deleted backups. */
export class Leases {
  readonly #leased = new Map<string, Set<readonly number[]>>();

  /** @returns the function that releases the lease. */
  take(collection: string, segments: readonly number[]): () => void {
    const leased = this.#leased.get(collection) ?? new Set();
    this.#leased.set(collection, leased.add(segments));
    return () => {
      leased.delete(segments);
      if (leased.size === 0 && this.#leased.get(collection) === leased)
        this.#leased.delete(collection);
    };
  }

  *of(collection: string): Generator<number> {
    for (const segments of this.#leased.get(collection) ?? []) yield* segments;
  }
}
