/**
 * The least `limit` items of many: a top-N heap with the greatest kept item on top. No two items
 * may be equal; compare ranks last. A limit of Infinity keeps everything.
 */
export class TopN<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  /** A heap once it is full; in order of arrival before. */
  readonly #items: T[] = [];
  /**
   * The greatest kept item, `undefined` while there is room. An item that is not less need not be
   * created: `if (top.worst && order.compare(key, top.worst.key) >= 0) continue`.
   */
  worst: T | undefined;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  add(item: T): void {
    const { worst } = this;
    if (worst !== undefined && this.#compare(item, worst) >= 0) return;
    const items = this.#items;
    if (worst !== undefined) this.#sink(item, 0);
    else if (items.length < this.#limit) {
      items.push(item);
      if (items.length < this.#limit) return;
      for (let at = (items.length >> 1) - 1; at >= 0; at--) this.#sink(items[at] as T, at);
    }
    this.worst = items[0];
  }

  /** The kept items, least first. */
  sorted(): T[] {
    return this.#items.toSorted(this.#compare);
  }

  /** Replaces the item at an index and restores the heap below it. */
  #sink(item: T, at: number): void {
    const items = this.#items;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#compare(items[child + 1] as T, items[child] as T) > 0) {
        child++;
      }
      if (this.#compare(items[child] as T, item) <= 0) break;
      items[at] = items[child] as T;
      at = child;
    }
    items[at] = item;
  }
}
