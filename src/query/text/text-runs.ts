import type { EntryList, Ranked } from '../index/leaf-list.ts';
import { buildPostings, joinPostings, type Postings } from './postings.ts';
import type { TextKey } from './text-key.ts';

/** Documents that wait before they become a run of their own. */
const MOST_WAITING = 2048;

/** Postings of documents that came together, and their records. */
export class Run<E extends Ranked> {
  readonly postings: Postings;
  /** By row. */
  readonly ranks: Float64Array;
  readonly #entries: EntryList<E>;
  /** Rows by ascending rank, where that is not their own order. */
  readonly #order: Uint32Array | undefined;
  readonly #newer = new Map<number, E>();

  /** @param entries By row; what was loaded makes records on demand. */
  constructor(postings: Postings, ranks: Float64Array, entries: EntryList<E>) {
    this.postings = postings;
    this.ranks = ranks;
    this.#entries = entries;
    if (ranks.some((rank, at) => at > 0 && (ranks[at - 1] as number) > rank))
      this.#order = Uint32Array.from(ranks.keys()).sort(
        (a, b) => (ranks[a] as number) - (ranks[b] as number),
      );
  }

  /** The newest version with the words of a row. */
  recordAt(row: number): E {
    return this.#newer.get(row) ?? (this.#entries.at(row) as E);
  }

  replace(row: number, record: E): void {
    this.#newer.set(row, record);
  }

  /** The row of a rank, if it is there and has not gone. */
  rowOf(rank: number): number | undefined {
    const { ranks } = this;
    let low = 0;
    let high = ranks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranks[this.#rowAt(middle)] as number) < rank) low = middle + 1;
      else high = middle;
    }
    const row = this.#rowAt(low);
    return ranks[row] === rank && !this.postings.dead[row] ? row : undefined;
  }

  #rowAt(place: number): number {
    return this.#order ? (this.#order[place] as number) : place;
  }
}

/** A record that waits, with its words. */
interface Waiting<E> {
  readonly record: E;
  readonly key: TextKey;
}

/** Entries that are loaded and not built yet. */
interface Loaded<E> {
  readonly entries: EntryList<E>;
  readonly count: number;
  /** By row, once one of them is needed. */
  ranks?: Float64Array;
  readonly building: Generator<void>;
  /** Ranks of those that have gone meanwhile, with their words. */
  readonly gone: Map<number, Iterable<string>>;
  /** Newer versions with the same words. */
  readonly newer: Map<number, E>;
}

/**
 * The postings of an index: immutable runs, larger ones first, and what waits to become one. A
 * change adds its document anew and marks the row of the version before. A run that has grown to a
 * quarter of the one before it is joined with that, so there are few.
 */
export class TextRuns<E extends Ranked> {
  readonly #pathCount: number;
  readonly #runs: Run<E>[] = [];
  /** By rank. */
  readonly #waiting = new Map<number, Waiting<E>>();
  #loaded: Loaded<E> | undefined;

  constructor(pathCount: number) {
    this.#pathCount = pathCount;
  }

  /** Number of documents. */
  get size(): number {
    const loaded = this.#loaded ? this.#loaded.count - this.#loaded.gone.size : 0;
    const built = this.#runs.reduce((sum, { postings }) => sum + postings.alive, 0);
    return built + this.#waiting.size + loaded;
  }

  /** Takes these in place of all that it had. */
  load(entries: EntryList<E>, keys: readonly TextKey[]): void {
    this.#runs.length = 0;
    this.#waiting.clear();
    const building = this.#build(keys);
    this.#loaded = { entries, count: keys.length, gone: new Map(), newer: new Map(), building };
  }

  add(record: E, key: TextKey): void {
    this.#waiting.set(record.rank, { record, key });
    if (this.#waiting.size >= MOST_WAITING && !this.#loaded) this.#settle();
  }

  /** @param words The distinct words that it was added with. */
  remove({ rank }: E, words: () => Iterable<string>): void {
    if (this.#waiting.delete(rank)) return;
    const place = this.#find(rank);
    if (place) place.run.postings.kill(place.row, words());
    else this.#beforeChange()?.gone.set(rank, words());
  }

  /** Takes a newer version with the same words. */
  replace(record: E): void {
    const { rank } = record;
    const waiting = this.#waiting.get(rank);
    if (waiting) this.#waiting.set(rank, { ...waiting, record });
    else {
      const place = this.#find(rank);
      if (place) place.run.replace(place.row, record);
      else this.#beforeChange()?.newer.set(rank, record);
    }
  }

  /** Builds what is loaded, in slices; changes may come between. */
  *building(): Generator<void> {
    while (this.#loaded) if (!this.#loaded.building.next().done) yield;
  }

  /** The runs of all documents. Must not be called before all is built. */
  current(): readonly Run<E>[] {
    this.#settle();
    this.#join();
    return this.#runs;
  }

  *#build(keys: readonly TextKey[]): Generator<void> {
    const loaded = this.#loaded as Loaded<E>;
    ranksOf(loaded);
    yield;
    const postings = yield* buildPostings(keys, this.#pathCount);
    const { entries, gone, newer } = loaded;
    const run = new Run(postings, ranksOf(loaded), entries);
    for (const [rank, record] of newer) run.replace(run.rowOf(rank) as number, record);
    for (const [rank, words] of gone) postings.kill(run.rowOf(rank) as number, words);
    this.#loaded = undefined;
    this.#runs.unshift(run);
  }

  /** What is loaded, with its ranks: a record that is replaced or deleted is not kept. */
  #beforeChange(): Loaded<E> | undefined {
    if (this.#loaded) ranksOf(this.#loaded);
    return this.#loaded;
  }

  /** Makes a run of what waits. */
  #settle(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    const building = buildPostings(
      waiting.map(({ key }) => key),
      this.#pathCount,
    );
    let step = building.next();
    while (!step.done) step = building.next();
    const ranks = Float64Array.from(waiting, ({ record }) => record.rank);
    const records = waiting.map(({ record }) => record);
    this.#runs.push(new Run(step.value, ranks, records));
    this.#join();
  }

  #join(): void {
    const runs = this.#runs;
    for (let at = runs.length - 1; at >= 0; at--) {
      const { alive, size, deadCount } = (runs[at] as Run<E>).postings;
      if (alive === 0) runs.splice(at, 1);
      else if (deadCount * 2 > size) runs.splice(at, 1, joined([runs[at] as Run<E>]));
    }
    while (runs.length > 1) {
      const [before, last] = runs.slice(-2) as [Run<E>, Run<E>];
      if (last.postings.size * 4 < before.postings.size) return;
      runs.splice(-2, 2, joined([before, last]));
    }
  }

  #find(rank: number): { readonly run: Run<E>; readonly row: number } | undefined {
    for (const run of this.#runs) {
      const row = run.rowOf(rank);
      if (row !== undefined) return { run, row };
    }
    return undefined;
  }
}

/** One run of the documents that are there. */
function joined<E extends Ranked>(runs: readonly Run<E>[]): Run<E> {
  const records: E[] = [];
  for (const run of runs) {
    const { size, dead } = run.postings;
    for (let row = 0; row < size; row++) if (!dead[row]) records.push(run.recordAt(row));
  }
  const ranks = Float64Array.from(records, ({ rank }) => rank);
  return new Run(joinPostings(runs.map(({ postings }) => postings)), ranks, records);
}

function ranksOf<E extends Ranked>(loaded: Loaded<E>): Float64Array {
  const { entries, count } = loaded;
  loaded.ranks ??= Float64Array.from({ length: count }, (_, at) => (entries.at(at) as E).rank);
  return loaded.ranks;
}
