import type { Body } from '../codec/body.ts';
import { StorageError } from '../errors/storage-error.ts';
import { planCompaction, type SegmentState } from './compaction.ts';
import type { Durability, Storage, StorageOperation } from './driver.ts';
import { FORMAT, type Manifest } from './manifest.ts';
import {
  buildSegment,
  cutSegments,
  deletesSize,
  type Segment,
  type SegmentContent,
} from './segment.ts';
import type { SegmentPool } from './segment-pool.ts';
import type { StoredRecord } from './stored-record.ts';

/** Segments read in one request while opening: about 1.5 MB. */
const READ_AHEAD = 16;

/** Changes to be written: the newest versions of changed records, and keys that are gone. */
export interface Changes {
  readonly records: Iterable<StoredRecord>;
  readonly deletes: Iterable<string>;
}

/** What the log of a collection needs from around it. */
export interface SegmentLogOptions {
  readonly name: string;
  readonly type: string;
  readonly storage: Storage;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  /** Whether the collection keeps its bodies in memory itself, so that the pool need not. */
  readonly caching: boolean;
}

/** A segment as it was written, with the records in it. */
interface Written {
  readonly segment: Segment;
  readonly records: readonly StoredRecord[];
}

/** A compaction whose write failed. Where the connection was lost, it may have been stored all the same. */
interface Replacement {
  readonly numbers: ReadonlySet<number>;
  readonly written: readonly Written[];
  readonly manifest: Manifest;
}

/**
 * The saved part of a collection: immutable segments, numbered upward. Saving appends segments, opening
 * folds them in order, compaction merges them.
 *
 * Writes must be made one after another; the record store sees to that.
 */
export class SegmentLog {
  readonly name: string;
  /** The live segments, lowest number first. Whoever supersedes a record takes its size from `live`. */
  readonly segments = new Map<number, SegmentState>();
  readonly #options: SegmentLogOptions;
  #manifest: Manifest | undefined;
  /** The segments that the manifest named when the log was opened. */
  #named: ReadonlySet<number> = new Set();
  /** Number of the newest segment ever written. */
  #newest = 0;
  /** Numbers of a failed save. It may have been stored all the same, so the next one removes them. */
  #doubtful: number[] = [];
  /**
   * Segments that a compaction is replacing or has replaced, for readers that began before it: storage
   * no longer has them. Emptied by {@link SegmentLog.forgetReplaced}.
   */
  readonly #replacedSegments = new Map<number, Segment>();
  #compacting = false;
  /** A compaction of which it is not known whether it was stored. */
  #unsettled: Replacement | undefined;

  constructor(options: SegmentLogOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /**
   * Reads the manifest, then every segment in order. While one chunk is folded the next is being read.
   *
   * @param begin Called once with the type the collection was made with, before any segment.
   * @param fold Called with each segment, lowest number first.
   * @returns whether the collection exists in storage.
   */
  async open(begin: (type: string) => void, fold: (segment: Segment) => void): Promise<boolean> {
    const [manifest] = await this.#options.storage.getMany('collections', [[this.name]]);
    if (manifest === undefined) return false;
    this.#manifest = this.#checked(manifest as Manifest);
    this.#named = new Set(this.#manifest.segments);
    begin(this.#manifest.type);
    let chunk = this.#read(undefined);
    for (;;) {
      const segments = await chunk;
      const last = segments.at(-1);
      if (!last) break;
      chunk = this.#read(last.number);
      // Awaited on the next turn; until then a failure must not count as unhandled.
      chunk.catch(() => undefined);
      for (const segment of segments) this.#fold(segment, fold);
    }
    this.#checkManifest(this.#manifest);
    return true;
  }

  /** Whether storage knows of the collection. */
  get exists(): boolean {
    return this.#manifest !== undefined;
  }

  /** Whether a save that failed may have been stored all the same; the next one undoes it. */
  get inDoubt(): boolean {
    return this.#doubtful.length > 0;
  }

  /** Appends changes, atomically. On failure nothing has changed and the same changes can be appended again. */
  async append({ records, deletes }: Changes): Promise<void> {
    await this.#settle();
    const first = this.#newest + 1 + this.#doubtful.length;
    const written: Written[] = [];
    const discard = this.#doubtful.map((number) => this.#deletion(number));
    try {
      await this.#write(
        function* (this: SegmentLog): Generator<StorageOperation> {
          if (!this.#manifest) yield putManifest(this.#makeManifest([], 1));
          yield* discard;
          // Cut while it is written, a segment at a time: a large save must not block the thread.
          yield* this.#puts(cutSegments(deletes, records, pendingBody), first, written);
        }.call(this),
      );
    } catch (error) {
      this.#doubtful.push(...written.map(({ segment }) => segment.number));
      throw error;
    }
    this.#manifest ??= this.#makeManifest([], 1);
    this.#doubtful = [];
    this.#adopt(written);
  }

  /** Stores that the collection exists. */
  async create(): Promise<void> {
    if (this.#manifest) return;
    const manifest = this.#makeManifest([], 1);
    await this.#write([putManifest(manifest)]);
    this.#manifest = manifest;
  }

  /**
   * Merges segments when too many are small or mostly dead. Nothing else may be written meanwhile.
   *
   * Live records may always move to a new, higher number: they are the newest saved version of their key,
   * so nothing they could overtake exists.
   *
   * @param saved The newest saved version of a key.
   */
  async compact(saved: (key: string) => StoredRecord | undefined): Promise<boolean> {
    await this.#settle();
    const plan = planCompaction([...this.segments.values()]);
    if (plan.length === 0) return false;
    const numbers = new Set(plan.map(({ number }) => number));
    this.#compacting = true;
    try {
      const merged = await Promise.all(plan.map(({ number }) => this.load(number)));
      for (const segment of merged) this.#replacedSegments.set(segment.number, segment);
      await this.#replace(numbers, this.#merge(numbers, merged, saved));
    } finally {
      this.#compacting = false;
    }
    return true;
  }

  /** To be called whenever nobody is reading. */
  forgetReplaced(): void {
    if (!this.#compacting && !this.#unsettled) this.#replacedSegments.clear();
  }

  #merge(
    numbers: ReadonlySet<number>,
    merged: readonly Segment[],
    saved: (key: string) => StoredRecord | undefined,
  ): SegmentContent[] {
    const oldestLeft =
      [...this.segments.keys()].find((number) => !numbers.has(number)) ?? Number.POSITIVE_INFINITY;
    const live = new Map<StoredRecord, Body>();
    const deletes = new Set<string>();
    for (const segment of merged) {
      segment.keys.forEach((key, index) => {
        const record = saved(key);
        if (record?.segment !== segment.number || record.index !== index) return;
        live.set(record, segment.bodies[index] as Body);
      });
      // A deletion still counts while an older segment may hold the key.
      if (oldestLeft > segment.number) continue;
      for (const key of segment.deletes) if (!saved(key)) deletes.add(key);
    }
    const records = [...live.keys()].sort((a, b) => a.order - b.order);
    return [...cutSegments(deletes, records, (record) => live.get(record) as Body)];
  }

  async #replace(numbers: ReadonlySet<number>, contents: SegmentContent[]): Promise<void> {
    const first = this.#newest + 1 + this.#doubtful.length;
    const next = first + contents.length;
    const kept = [...this.segments.keys()].filter((number) => !numbers.has(number));
    const manifest = this.#makeManifest(
      [...kept, ...contents.map((_, index) => first + index)],
      next,
    );
    const written: Written[] = [];
    const gone = [...numbers, ...this.#doubtful].map((number) => this.#deletion(number));
    this.#unsettled = { numbers, written, manifest };
    await this.#write(
      function* (this: SegmentLog): Generator<StorageOperation> {
        yield* this.#puts(contents, first, written);
        yield* gone;
        yield putManifest(manifest);
      }.call(this),
    );
    this.#replaced(this.#unsettled);
  }

  /** Finds out whether a compaction that failed was stored: its manifest went with it. */
  async #settle(): Promise<void> {
    if (!this.#unsettled) return;
    const [stored] = await this.#options.storage.getMany('collections', [[this.name]]);
    const { manifest } = this.#unsettled;
    if (isSame(stored as Manifest | undefined, manifest)) this.#replaced(this.#unsettled);
    this.#unsettled = undefined;
  }

  #replaced({ numbers, written, manifest }: Replacement): void {
    this.#unsettled = undefined;
    this.#manifest = manifest;
    this.#doubtful = [];
    for (const number of numbers) {
      this.segments.delete(number);
      this.#options.pool.forget(this.name, number);
    }
    this.#adopt(written);
    this.#newest = manifest.next - 1;
  }

  /** The segment of this number, from the pool or from storage. */
  load(number: number): Promise<Segment> {
    const segment = this.peek(number);
    return segment ? Promise.resolve(segment) : this.#options.pool.load(this.name, number);
  }

  /** The segment of this number, if it is at hand. */
  peek(number: number): Segment | undefined {
    return this.#replacedSegments.get(number) ?? this.#options.pool.peek(this.name, number);
  }

  /** Removes the collection with all it has in storage. */
  async drop(): Promise<void> {
    try {
      await this.#write([
        { type: 'deletePrefix', store: 'segments', prefix: [this.name] },
        { type: 'delete', store: 'collections', key: [this.name] },
      ]);
    } catch (error) {
      if (await this.#mayBeStored()) throw error;
    }
    for (const number of this.segments.keys()) this.#options.pool.forget(this.name, number);
    this.segments.clear();
    this.#manifest = undefined;
    this.#newest = 0;
  }

  async #mayBeStored(): Promise<boolean> {
    try {
      const [manifest] = await this.#options.storage.getMany('collections', [[this.name]]);
      return manifest !== undefined;
    } catch {
      // The failure that led here is reported.
      return true;
    }
  }

  #write(operations: Iterable<StorageOperation>): Promise<void> {
    return this.#options.storage.write(operations, this.#options.durability);
  }

  #read(after: number | undefined): Promise<Segment[]> {
    const range = {
      prefix: [this.name],
      after: after === undefined ? undefined : [this.name, after],
      limit: READ_AHEAD,
    };
    return this.#options.storage.list('segments', range) as Promise<Segment[]>;
  }

  #fold(segment: Segment, fold: (segment: Segment) => void): void {
    const { number, after } = segment;
    const { next } = this.#manifest as Manifest;
    // Below `next` the manifest decides; what it does not name was replaced.
    if (number < next && !this.#named.has(number)) return;
    if (number >= next && after !== 0 && after >= next && !this.segments.has(after))
      throw this.#lost(after);
    this.#enter(segment);
    fold(segment);
  }

  #checked(manifest: Manifest): Manifest {
    if (manifest.format <= FORMAT) return manifest;
    throw new StorageError(
      'format_newer',
      `Collection "${this.name}" was written in format ${manifest.format}; this version of cairndb knows ${FORMAT}. Update this app.`,
      { place: this.name },
    );
  }

  #checkManifest({ segments, next }: Manifest): void {
    for (const number of segments) if (!this.segments.has(number)) throw this.#lost(number);
    this.#newest = Math.max(this.#newest, next - 1);
  }

  #lost(number: number): StorageError {
    return new StorageError(
      'data_damaged',
      `Segment ${number} of collection "${this.name}" is missing from storage, so documents are lost. ` +
        'Restore the data, or Drop() the collection to start anew.',
      { place: this.name },
    );
  }

  /** Builds segments one by one as they are drawn; `written` is what has been so far. */
  *#puts(
    contents: Iterable<SegmentContent>,
    first: number,
    written: Written[],
  ): Generator<StorageOperation> {
    let number = first;
    let after = this.#newest;
    for (const content of contents) {
      const segment = buildSegment(content, number, after);
      written.push({ segment, records: content.records });
      yield { type: 'put', store: 'segments', key: [this.name, number], value: segment };
      after = number++;
    }
  }

  /** Takes written segments into the books, and tells their records where they rest. */
  #adopt(written: readonly Written[]): void {
    for (const { segment, records } of written) {
      records.forEach((record, index) => {
        record.segment = segment.number;
        record.index = index;
      });
      if (!this.#options.caching) this.#options.pool.keep(this.name, segment);
      this.#enter(segment);
    }
  }

  #enter({ number, size, deletes: keys }: Segment): void {
    const deletes = deletesSize(keys);
    this.segments.set(number, { number, size, deletes, live: size - deletes });
    this.#newest = number;
  }

  #deletion(number: number): StorageOperation {
    return { type: 'delete', store: 'segments', key: [this.name, number] };
  }

  #makeManifest(segments: readonly number[], next: number): Manifest {
    return { format: FORMAT, name: this.name, type: this.#options.type, segments, next };
  }
}

function isSame(stored: Manifest | undefined, { next, segments }: Manifest): boolean {
  return stored?.next === next && stored.segments.join() === segments.join();
}

function putManifest(manifest: Manifest): StorageOperation {
  return { type: 'put', store: 'collections', key: [manifest.name], value: manifest };
}

/** Invariant: a record that no segment holds has its body. */
function pendingBody(record: StoredRecord): Body {
  return record.body as Body;
}
