/** A state of all collections that can still be read. */
export interface Snapshot {
  /** The time of the last change that it shows. */
  readonly at: number;
}

/** The history of a collection. */
export interface TrimmedHistory {
  /** Forgets the changes that no open snapshot needs. */
  trim(): void;
}

/**
 * The open snapshots of an engine. They copy nothing: while one is open, each collection notes the versions that are
 * replaced. Time is the number of changes.
 */
export class OpenSnapshots {
  /** Oldest first. */
  readonly #open = new Set<Snapshot>();
  readonly #histories = new Set<TrimmedHistory>();
  #now = 0;

  /** Whether no snapshot is open. */
  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** The time of the oldest; nothing before it has to be kept. */
  get oldest(): number {
    for (const { at } of this.#open) return at;
    return Number.POSITIVE_INFINITY;
  }

  take(): Snapshot {
    const snapshot = { at: this.#now };
    this.#open.add(snapshot);
    return snapshot;
  }

  /** Whether it can still be read. */
  isOpen(snapshot: Snapshot): boolean {
    return this.#open.has(snapshot);
  }

  release(snapshot: Snapshot): void {
    this.#open.delete(snapshot);
    if (this.#open.size > 0) return;
    for (const history of this.#histories) history.trim();
    this.#histories.clear();
  }

  /** Ends those of a time before a change: too much was changed since. */
  expireBefore(at: number): void {
    for (const snapshot of this.#open) {
      if (snapshot.at >= at) return;
      this.release(snapshot);
    }
  }

  /** The time of the next change, which the history notes. */
  tick(history: TrimmedHistory): number {
    this.#histories.add(history);
    return ++this.#now;
  }
}
