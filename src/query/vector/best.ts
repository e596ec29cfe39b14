/** What has a place among equals: the smaller rank comes first. */
interface Ranked {
  readonly rank: number;
}

/** An item with its score: the higher, the better. */
export interface ScoredEntry<E> {
  readonly item: E;
  readonly score: number;
}

/** The best items so far: a heap with the worst on top. Of equal scores, the oldest stay. */
export class Best<E extends Ranked> {
  readonly #most: number;
  readonly #heap: ScoredEntry<E>[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** A score below this one changes nothing. */
  get bound(): number {
    const { length } = this.#heap;
    return length < this.#most ? Number.NEGATIVE_INFINITY : (this.#heap[0]?.score ?? Infinity);
  }

  add(item: E, score: number): void {
    const heap = this.#heap;
    const added = { item, score };
    if (heap.length < this.#most) {
      heap.push(added);
      this.#rise(heap.length - 1);
    } else if (heap[0] && isWorse(heap[0], added)) {
      heap[0] = added;
      this.#sink();
    }
  }

  /** From the best to the worst. */
  list(): ScoredEntry<E>[] {
    return this.#heap.slice().sort((a, b) => (isWorse(a, b) ? 1 : -1));
  }

  #rise(from: number): void {
    const heap = this.#heap;
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!isWorse(heap[at] as ScoredEntry<E>, heap[above] as ScoredEntry<E>)) return;
      swap(heap, at, above);
      at = above;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
      let worst = at;
      for (const below of [2 * at + 1, 2 * at + 2]) {
        const other = heap[below];
        if (other && isWorse(other, heap[worst] as ScoredEntry<E>)) worst = below;
      }
      if (worst === at) return;
      swap(heap, at, worst);
      at = worst;
    }
  }
}

function isWorse<E extends Ranked>(a: ScoredEntry<E>, b: ScoredEntry<E>): boolean {
  return a.score < b.score || (a.score === b.score && a.item.rank > b.item.rank);
}

function swap<T>(list: T[], a: number, b: number): void {
  [list[a], list[b]] = [list[b] as T, list[a] as T];
}
