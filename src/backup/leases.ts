/** Segments that something reads at the moment, whether or not a backup names them, by collection. */
export class Leases {
  readonly #held = new Map<string, Set<readonly number[]>>();

  /** Keeps segments in storage until what it returns is called. */
  hold(collection: string, segments: readonly number[]): () => void {
    const held = this.#held.get(collection) ?? new Set();
    this.#held.set(collection, held.add(segments));
    return () => {
      held.delete(segments);
      if (held.size === 0 && this.#held.get(collection) === held) this.#held.delete(collection);
    };
  }

  *of(collection: string): Generator<number> {
    for (const segments of this.#held.get(collection) ?? []) yield* segments;
  }
}
