/** A document of the model. */
export interface Entry {
  _id: string;
  at?: Date | null | undefined;
  n?: number | undefined;
  code?: string | undefined;
}

/**
 * What a collection with `expire_after: { field: 'at', seconds }` holds, in the simplest way: a
 * list, and what has left it.
 */
export class ExpiryModel {
  readonly #seconds: number;
  #entries: Entry[] = [];
  /** What has expired, and may be stored still. */
  readonly #gone = new Map<string, Entry>();

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /**
   * The time is seen: what has expired by now never comes back. What is new later has its own time.
   */
  look(now: number): void {
    for (const entry of this.#entries)
      if (this.#dueOf(entry) <= now) this.#gone.set(entry._id, entry);
    this.#entries = this.#entries.filter(({ _id }) => !this.#gone.has(_id));
  }

  /**
   * What was seen is forgotten: what had expired may be there again, as far as it was not removed,
   * and has not by this clock.
   *
   * @param found What is there now. @returns what must not be.
   */
  restart(now: number, found: readonly Entry[]): readonly Entry[] {
    const wrong = found.filter((entry) => {
      const { _id } = entry;
      const gone = this.#gone.get(_id);
      return !this.has(_id) && !(gone && this.#dueOf(gone) > now);
    });
    for (const { _id } of found) {
      const gone = this.#gone.get(_id);
      if (gone) this.insert(gone);
    }
    const order = found.map(({ _id }) => _id);
    this.#entries.sort((a, b) => order.indexOf(a._id) - order.indexOf(b._id));
    return wrong;
  }

  get all(): readonly Entry[] {
    return this.#entries;
  }

  has(id: string): boolean {
    return this.#entries.some(({ _id }) => _id === id);
  }

  /** Whether another document has the key of a unique index. */
  isTaken({ _id, code }: Entry): boolean {
    return code !== undefined && this.#entries.some((one) => one.code === code && one._id !== _id);
  }

  insert(entry: Entry): void {
    this.#gone.delete(entry._id);
    this.#entries.push(entry);
  }

  replace(entry: Entry): boolean {
    const at = this.#entries.findIndex(({ _id }) => _id === entry._id);
    if (at >= 0) this.#entries[at] = entry;
    return at >= 0;
  }

  delete(id: string): boolean {
    const there = this.has(id);
    this.#entries = this.#entries.filter(({ _id }) => _id !== id);
    return there;
  }

  #dueOf({ at }: Entry): number {
    return at ? at.getTime() + this.#seconds * 1000 : Number.POSITIVE_INFINITY;
  }
}
