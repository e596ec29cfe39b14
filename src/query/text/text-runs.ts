import { firstWhere } from '../../codec/first-where.ts';
import type { EntryList, Ranked } from '../index/leaf-list.ts';
import { type JoinedPart, joinPostings, type Postings, PostingsBuilder } from './postings.ts';
import type { StoredPostings } from './stored-postings.ts';
import { readToken, type TextKey, unattached } from './text-key.ts';

/** Documents that wait before they become a run of their own: some milliseconds. */
const MOST_WAITING = 512;

/** Documents that are looked at before a builder yields. */
const SLICE = 256;

/** Postings of documents that came together, and their records. */
export class Run<E extends Ranked> {
  readonly postings: Postings;
  /** By row. */
  readonly ranks: Float64Array;
  /** By row: the place of its record among those that are loaded; -1 for one of its own. */
  readonly places: Int32Array;
  readonly #loaded: EntryList<E>;
  /** The newest version with the words of a row. */
  readonly #own: Map<number, E>;
  /** Rows by ascending rank, where that is not their own order. */
  readonly #order: Uint32Array | undefined;

  constructor(
    postings: Postings,
    ranks: Float64Array,
    places: Int32Array,
    loaded: EntryList<E>,
    own: Map<number, E> = new Map(),
  ) {
    this.postings = postings;
    this.ranks = ranks;
    this.places = places;
    this.#loaded = loaded;
    this.#own = own;
    if (ranks.some((rank, at) => at > 0 && (ranks[at - 1] as number) > rank))
      this.#order = Uint32Array.from(ranks.keys()).sort(
        (a, b) => (ranks[a] as number) - (ranks[b] as number),
      );
  }

  recordAt(row: number): E {
    return this.ownAt(row) ?? (this.#loaded.at(this.places[row] as number) as E);
  }

  /** The record of a row, unless the loaded one is the newest. */
  ownAt(row: number): E | undefined {
    return this.#own.get(row);
  }

  replace(row: number, record: E): void {
    this.#own.set(row, record);
  }

  /** @param record Its version: a search that has begun may still take it. */
  kill(row: number, record?: E): void {
    this.postings.kill(row);
    if (record) this.#own.set(row, record);
  }

  /** The row of a rank, if it is there and has not gone. */
  rowOf(rank: number): number | undefined {
    const { ranks } = this;
    const at = firstWhere(
      0,
      ranks.length,
      (place) => (ranks[this.#rowAt(place)] as number) >= rank,
    );
    const row = this.#rowAt(at);
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

/** Entries that are loaded and not built yet; or that have come since, which are records alone. */
interface Loaded<E> {
  readonly entries: EntryList<E>;
  readonly isNew: boolean;
  readonly ranks: Float64Array;
  readonly keys: readonly TextKey[];
  /** By rank, those that have gone meanwhile. */
  readonly gone: Map<number, E>;
  /** Newer versions with the same words. */
  readonly newer: Map<number, E>;
}

/**
 * The postings of an index: immutable runs, larger ones first, and what waits to become one. A
 * change adds its document anew and marks the row of the version before. Runs are joined with the
 * one before where they have a quarter of its documents, so there are few.
 */
export class TextRuns<E extends Ranked> {
  readonly #pathCount: number;
  #runs: Run<E>[] = [];
  /** By rank. */
  readonly #waiting = new Map<number, Waiting<E>>();
  #loaded: Loaded<E> | undefined;
  /** The entries of the rows that have a place. */
  #base: EntryList<E> = [];
  /** What is being built or joined; those who wait for it share it. */
  #work: Generator<void> | undefined;

  constructor(pathCount: number) {
    this.#pathCount = pathCount;
  }

  /** Number of documents. */
  get size(): number {
    const loaded = this.#loaded ? this.#loaded.keys.length - this.#loaded.gone.size : 0;
    const built = this.#runs.reduce((sum, { postings }) => sum + postings.alive, 0);
    return built + this.#waiting.size + loaded;
  }

  /** Whether entries are loaded whose postings are not made yet: {@link adopt} may have them. */
  get isLoaded(): boolean {
    return this.#loaded !== undefined && this.#work === undefined;
  }

  /** Takes these in place of all that it had. @param ranks Of the entries. */
  load(entries: EntryList<E>, ranks: Float64Array, keys: readonly TextKey[]): void {
    this.#runs = [];
    this.#waiting.clear();
    this.#work = undefined;
    this.#base = entries;
    this.#loaded = { entries, isNew: false, ranks, keys, gone: new Map(), newer: new Map() };
  }

  push(run: Run<E>): void {
    this.#runs.push(run);
  }

  add(record: E, key: TextKey): void {
    this.#waiting.set(record.rank, { record, key });
    if (this.#waiting.size >= MOST_WAITING && !this.#loaded) this.#settle();
  }

  remove(record: E): void {
    const { rank } = record;
    if (this.#waiting.delete(rank)) return;
    const place = this.#find(rank);
    if (place) place.run.kill(place.row, record);
    else this.#loaded?.gone.set(rank, record);
  }

  /** Takes a newer version with the same words. */
  replace(record: E): void {
    const { rank } = record;
    const waiting = this.#waiting.get(rank);
    if (waiting) this.#waiting.set(rank, { ...waiting, record });
    else {
      const place = this.#find(rank);
      if (place) place.run.replace(place.row, record);
      else this.#loaded?.newer.set(rank, record);
    }
  }

  /** Builds what is loaded, and joins runs, in slices; changes may come between. */
  *building(): Generator<void> {
    for (;;) {
      this.#work ??= this.#nextWork();
      const work = this.#work;
      if (!work) return;
      if (work.next().done) {
        if (this.#work === work) this.#work = undefined;
      } else yield;
    }
  }

  /** All documents of this moment in one run; `undefined` where others were loaded since. */
  *whole(): Generator<void, Run<E> | undefined> {
    const base = this.#base;
    yield* this.building();
    this.#settle();
    if (this.#runs.length > 1) {
      const joining = this.#join(0, this.#runs.length);
      this.#work = joining;
      while (this.#work === joining) {
        if (joining.next().done) this.#work = undefined;
        else yield;
      }
    }
    return this.#base === base ? this.#runs[0] : undefined;
  }

  /** The runs of all documents. Must not be called before all is built. */
  current(): readonly Run<E>[] {
    this.#settle();
    return this.#runs;
  }

  /**
   * Takes postings of loaded entries from storage. What these do not have is added by its key.
   *
   * @param slotAt The slot of the entry at a place.
   */
  *adopt(stored: StoredPostings, slotAt: (place: number) => number | undefined): Generator<void> {
    const loaded = this.#loaded;
    if (!loaded || this.#work) return;
    const { entries, keys, ranks } = loaded;
    const places = new Int32Array(stored.ranks.length).fill(-1);
    const run = new Run(stored.postings, stored.ranks, places, entries);
    /** Places that the stored ones do not have. */
    const rest: number[] = [];
    for (let place = 0, row = 0; place < keys.length; place++) {
      const rank = ranks[place] as number;
      // Nearly always the next one.
      const found = stored.ranks[row] === rank ? row : run.rowOf(rank);
      row = (found ?? row) + 1;
      if (found !== undefined && stored.slots[found] === slotAt(place)) places[found] = place;
      else rest.push(place);
      if (place % 8192 !== 8191) continue;
      yield;
      if (this.#loaded !== loaded || this.#work) return;
    }
    for (const [row, place] of places.entries()) if (place < 0) run.kill(row);
    this.#loaded = undefined;
    this.#settleLoaded(loaded, run);
    for (const place of rest) {
      const rank = ranks[place] as number;
      if (loaded.gone.has(rank)) continue;
      const record = loaded.newer.get(rank) ?? (entries.at(place) as E);
      if (!this.#waiting.has(rank))
        this.#waiting.set(rank, { record, key: keys[place] as TextKey });
    }
  }

  #nextWork(): Generator<void> | undefined {
    if (!this.#loaded && this.#waiting.size > MOST_WAITING) this.#takeWaiting();
    if (this.#loaded) return this.#build(this.#loaded);
    const runs = this.#runs;
    let first = runs.length - 1;
    // The last ones, as long as those behind have a quarter of the one before.
    for (let behind = runs[first]?.postings.size ?? 0; first > 0; first--) {
      const { size } = (runs[first - 1] as Run<E>).postings;
      if (behind * 4 < size) break;
      behind += size;
    }
    if (first >= 0 && first < runs.length - 1) return this.#join(first, runs.length);
    const half = runs.findIndex(({ postings }) => postings.deadCount * 2 > postings.size);
    return half < 0 ? undefined : this.#join(half, half + 1);
  }

  /** What came while others were loaded is too much for one slice. */
  #takeWaiting(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#loaded = {
      ...{ isNew: true, gone: new Map(), newer: new Map() },
      entries: waiting.map(({ record }) => record),
      ranks: Float64Array.from(waiting, ({ record }) => record.rank),
      keys: waiting.map(({ key }) => key),
    };
  }

  *#build(loaded: Loaded<E>): Generator<void> {
    const { entries, isNew, keys, ranks } = loaded;
    const postings = yield* buildPostings(keys, this.#pathCount);
    const places = Int32Array.from(keys, (_, row) => (isNew ? -1 : row));
    const own = new Map(isNew ? Array.from(keys, (_, row) => [row, entries.at(row) as E]) : []);
    this.#loaded = undefined;
    this.#settleLoaded(loaded, new Run(postings, ranks, places, this.#base, own));
  }

  #settleLoaded({ isNew, gone, newer }: Loaded<E>, run: Run<E>): void {
    for (const [rank, record] of newer) {
      const row = run.rowOf(rank);
      if (row !== undefined) run.replace(row, record);
    }
    for (const [rank, record] of gone) {
      const row = run.rowOf(rank);
      if (row !== undefined) run.kill(row, record);
    }
    if (isNew) this.#runs.push(run);
    else this.#runs.unshift(run);
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
    const own = new Map(waiting.map(({ record }, row) => [row, record]));
    const places = new Int32Array(waiting.length).fill(-1);
    this.#runs.push(new Run(step.value, ranks, places, this.#base, own));
  }

  /** Makes one run of some. Changes may come between: rows may go, and have newer versions. */
  *#join(from: number, to: number): Generator<void> {
    const runs = this.#runs.slice(from, to);
    /** The place of each new row. */
    const sources: (readonly [run: Run<E>, row: number])[] = [];
    const parts = runs.map((run): JoinedPart => {
      const rows = Int32Array.from(run.postings.dead, (isDead, row) =>
        isDead ? -1 : sources.push([run, row]) - 1,
      );
      return { postings: run.postings, rows };
    });
    const postings = yield* joinPostings(parts, sources.length);
    const own = new Map<number, E>();
    const ranks = new Float64Array(sources.length);
    const places = new Int32Array(sources.length);
    for (const [row, [run, before]] of sources.entries()) {
      ranks[row] = run.ranks[before] as number;
      places[row] = run.places[before] as number;
      const record = run.ownAt(before);
      if (record) own.set(row, record);
      if (run.postings.dead[before]) postings.kill(row);
    }
    const joined = new Run(postings, ranks, places, this.#base, own);
    this.#runs = this.#runs.flatMap((run) => {
      if (run === runs[0]) return postings.alive > 0 ? joined : [];
      return runs.includes(run) ? [] : run;
    });
  }

  #find(rank: number): { readonly run: Run<E>; readonly row: number } | undefined {
    for (const run of this.#runs) {
      const row = run.rowOf(rank);
      if (row !== undefined) return { run, row };
    }
    return undefined;
  }
}

/** Makes postings of the keys of rows, in slices. */
function* buildPostings(keys: readonly TextKey[], pathCount: number): Generator<void, Postings> {
  const builder = new PostingsBuilder(pathCount);
  /** The number of a word times 256, plus its times, by token. */
  const tokens = new Map<string, number>();
  const lengths = new Uint16Array(keys.length * pathCount);
  const packedOf = (token: string): number => {
    const { word, count } = readToken(token);
    const known = tokens.get(word);
    const number = known === undefined ? builder.begin(unattached(word)) : Math.floor(known / 256);
    if (known === undefined) tokens.set(builder.words[number] as string, number * 256 + 1);
    const packed = number * 256 + count;
    if (count > 1) tokens.set(unattached(token), packed);
    return packed;
  };
  for (let row = 0; row < keys.length; row++) {
    if (row % SLICE === SLICE - 1) yield;
    const lines = (keys[row] as string).split('\n');
    for (let path = 0; path < lines.length && path < pathCount; path++) {
      const line = lines[path] as string;
      if (line === '') continue;
      let length = 0;
      for (const token of line.split(' ')) {
        const packed = tokens.get(token) ?? packedOf(token);
        const times = packed % 256;
        length++;
        builder.add(Math.floor(packed / 256), row, path, times);
      }
      lengths[row * pathCount + path] = length;
    }
  }
  tokens.clear();
  return yield* builder.finish(lengths, false);
}
