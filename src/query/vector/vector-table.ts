import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { EntryList } from '../index/leaf-list.ts';
import { TopN } from '../sort/top-n.ts';
import type { Cells } from './cells.ts';
import { dot, norm, squaredDistance } from './metric.ts';
import type { Metric } from './vector-of.ts';

/** What a vector belongs to. A rank belongs to one entry at a time. */
export interface Entry {
  readonly rank: number;
}

/** An item with its score: the higher, the better. */
export interface ScoredEntry<E> {
  readonly item: E;
  readonly score: number;
}

/** Keeps the best items. Of equal scores, the oldest stay. */
export function bestEntries<E extends Entry>(most: number): TopN<ScoredEntry<E>> {
  return new TopN(most, (a, b) => b.score - a.score || a.item.rank - b.item.rank);
}

/** Entries that came together, and their vectors. */
interface Loaded<E> {
  readonly entries: EntryList<E>;
  readonly vectors: readonly (Float32Array | undefined)[];
}

/** Vectors looked at between two looks at the clock. */
const AT_ONCE = 256;

/** Slots of deleted vectors that are kept in any case. */
const FEW = 1024;

export type Accept<E> = (entry: E) => boolean;

/**
 * The vectors of a collection, by slot. A slot is used once: vectors are appended, and the table is
 * compacted once more than half of its slots are empty. Vectors never change, so that a scan which
 * gave way to a change goes on with those of its beginning: it copies the lists of what a slot has.
 */
export class VectorTable<E extends Entry> {
  readonly metric: Metric;
  /** By slot; `undefined` for a deleted one. */
  entries: (E | undefined)[] = [];
  vectors: (Float32Array | undefined)[] = [];
  /** The lengths of the vectors, for cosines alone; 0 for one that nobody asked for yet. */
  #norms: number[] = [];
  readonly #slots = new Map<number, number>();
  /** Counts compactions: slots of another one are of no use. */
  generation = 0;

  /** What has no slots yet: making its records takes a while. */
  #loaded: Loaded<E> | undefined;

  constructor(metric: Metric) {
    this.metric = metric;
  }

  /** Number of vectors, once all have slots. */
  get size(): number {
    return this.#slots.size;
  }

  get isEmpty(): boolean {
    return !this.#loaded && this.size === 0;
  }

  /** Takes over entries in place of all others; {@link prepare} gives them slots. */
  load(entries: EntryList<E>, vectors: readonly (Float32Array | undefined)[]): void {
    this.#slots.clear();
    this.entries = [];
    this.vectors = [];
    this.#norms = [];
    this.generation++;
    this.#loaded = { entries, vectors };
  }

  /** Must come before a search. */
  *prepare(pace: Pace): Coroutine<void> {
    // Records are made aside, in slices: from then on giving them slots is quick.
    for (let [loaded, at] = [this.#loaded, 0]; loaded; at++) {
      if (at % AT_ONCE === 0 && pace.late) yield* pace.pause();
      // Others may have come instead, by a restore.
      if (this.#loaded !== loaded) [loaded, at] = [this.#loaded, -1];
      else if (at >= loaded.vectors.length) this.settle();
      else if (loaded.vectors[at]) loaded.entries.at(at);
    }
  }

  /** Gives slots to what is loaded. Must come before one of it is replaced or deleted. */
  settle(): void {
    const loaded = this.#loaded;
    this.#loaded = undefined;
    if (!loaded) return;
    const { entries, vectors } = loaded;
    for (const [at, vector] of vectors.entries())
      if (vector) this.#append(entries.at(at) as E, vector);
  }

  /** Sets the vector of an entry, in place of that of its last version. */
  set(entry: E, vector: Float32Array): void {
    const slot = this.#slots.get(entry.rank);
    if (slot !== undefined) {
      if (isSame(this.vectors[slot] as Float32Array, vector)) {
        this.entries[slot] = entry;
        return;
      }
      this.#empty(slot);
    }
    this.#append(entry, vector);
    this.#compact();
  }

  #append(entry: E, vector: Float32Array): void {
    this.#slots.set(entry.rank, this.entries.length);
    this.entries.push(entry);
    this.vectors.push(vector);
    this.#norms.push(0);
  }

  delete(rank: number): void {
    this.settle();
    const slot = this.#slots.get(rank);
    if (slot === undefined) return;
    this.#slots.delete(rank);
    this.#empty(slot);
    this.#compact();
  }

  /** How near two vectors are. */
  score(vector: Float32Array, query: Float32Array): number {
    return this.#scorer(query, [vector], [0])(0);
  }

  /** The nearest of all, by a look at each. */
  *scan(
    query: Float32Array,
    most: number,
    accept: Accept<E>,
    pace: Pace,
  ): Coroutine<ScoredEntry<E>[]> {
    const best = bestEntries<E>(most);
    const entries = this.entries.slice();
    const score = this.#scorer(query, this.vectors.slice());
    for (let from = 0; from < entries.length; from += AT_ONCE) {
      addAll(best, entries.slice(from, from + AT_ONCE), from, score, accept);
      if (pace.late) yield* pace.pause();
    }
    return best.sorted();
  }

  /** The nearest of some cells. */
  among(
    cells: Cells,
    query: Float32Array,
    most: number,
    accept: Accept<E>,
    probes: number,
  ): { readonly nearest: ScoredEntry<E>[]; readonly examined: number } {
    const best = bestEntries<E>(most);
    const score = this.#scorer(query);
    const later = Array.from(
      { length: this.entries.length - cells.assigned },
      (_, at) => cells.assigned + at,
    );
    let examined = 0;
    for (const slots of [...cells.near(query, probes), later])
      examined += this.#addSome(best, slots, score, accept);
    return { nearest: best.sorted(), examined };
  }

  /** @returns how many there are. */
  #addSome(
    best: TopN<ScoredEntry<E>>,
    slots: readonly number[],
    score: (slot: number) => number,
    accept: Accept<E>,
  ): number {
    let examined = 0;
    for (const slot of slots) {
      const entry = this.entries[slot];
      if (!entry) continue;
      examined++;
      addIfBetter(best, entry, score(slot), accept);
    }
    return examined;
  }

  /** How near the vector of a slot is: the higher, the nearer. */
  #scorer(
    query: Float32Array,
    vectors: readonly (Float32Array | undefined)[] = this.vectors,
    norms = this.#norms,
  ): (slot: number) => number {
    if (this.metric === 'dot') return (slot) => dot(vectors[slot] as Float32Array, query);
    if (this.metric === 'euclidean')
      return (slot) => 1 / (1 + Math.sqrt(squaredDistance(vectors[slot] as Float32Array, query)));
    const own = norm(query);
    return (slot) => {
      const vector = vectors[slot] as Float32Array;
      const length = norms[slot] || norm(vector);
      norms[slot] = length;
      return dot(vector, query) / (length * own);
    };
  }

  #empty(slot: number): void {
    this.entries[slot] = this.vectors[slot] = undefined;
  }

  #compact(): void {
    const { length } = this.entries;
    if (length < FEW || this.size > length / 2) return;
    const slots = this.entries.flatMap((entry, slot) => (entry ? slot : []));
    this.entries = slots.map((slot) => this.entries[slot]);
    this.vectors = slots.map((slot) => this.vectors[slot]);
    this.#norms = slots.map((slot) => this.#norms[slot] as number);
    this.entries.forEach((entry, slot) => {
      this.#slots.set((entry as E).rank, slot);
    });
    this.generation++;
  }
}

/** Hot path: a plain function, as V8 optimizes a coroutine less well. */
function addAll<E extends Entry>(
  best: TopN<ScoredEntry<E>>,
  entries: readonly (E | undefined)[],
  first: number,
  score: (slot: number) => number,
  accept: Accept<E>,
): void {
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at];
    if (!entry) continue;
    addIfBetter(best, entry, score(first + at), accept);
  }
}

function addIfBetter<E extends Entry>(
  best: TopN<ScoredEntry<E>>,
  item: E,
  score: number,
  accept: Accept<E>,
): void {
  const { worst } = best;
  if ((!worst || score >= worst.score) && accept(item)) best.add({ item, score });
}

function isSame(a: Float32Array, b: Float32Array): boolean {
  return a === b || a.every((value, at) => value === b[at]);
}
