import type { Body } from '../codec/body.ts';
import { planCompaction, type SegmentState } from './compaction.ts';
import type { Durability, Storage, StorageOperation } from './driver.ts';
import { FORMAT, type Manifest } from './manifest.ts';
import { mergeSegments, type WholeSegment } from './merge-segments.ts';
import { readLog, readManifest, segmentLost } from './open-log.ts';
import {
  buildSegment,
  cutSegments,
  deletesSize,
  indexedColumns,
  type Segment,
  type SegmentBodies,
  type SegmentContent,
} from './segment.ts';
import type { SegmentPool } from './segment-pool.ts';
import type { StoredRecord } from './stored-record.ts';

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
  /** Columns for what indexes keep of each record. */
  readonly columns: readonly string[];
}

/** A segment as it was written, with the records in it. */
interface Written {
  readonly segment: Segment;
  readonly bodies: SegmentBodies;
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
  /** Number of the newest segment ever written. */
  #newest = 0;
  /** Numbers of a failed save. It may have been stored all the same, so the next one removes them. */
  #doubtful: number[] = [];
  /**
   * Bodies of segments that a compaction is replacing or has replaced, for readers that began before it:
   * storage no longer has them. Emptied by {@link SegmentLog.forgetReplaced}.
   */
  readonly #replacedBodies = new Map<number, SegmentBodies>();
  #compacting = false;
  /** A compaction of which it is not known whether it was stored. */
  #unsettled: Replacement | undefined;

  constructor(options: SegmentLogOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /**
   * Reads the manifest, then every segment in order, without the bodies of those that are not small.
   *
   * @param begin Called once with the type the collection was made with, before any segment.
   * @param fold Called with each segment, lowest number first.
   * @returns whether the collection exists in storage.
   */
  async open(begin: (type: string) => void, fold: (segment: Segment) => void): Promise<boolean> {
    const manifest = await readLog(
      this.#options.storage,
      this.name,
      (found) => begin(found.type),
      (segment) => {
        this.#enter(segment);
        fold(segment);
      },
    );
    this.#manifest = manifest;
    this.#newest = Math.max(this.#newest, (manifest?.next ?? 1) - 1);
    return manifest !== undefined;
  }

  /** Columns for what indexes keep of each record, in the order of {@link StoredRecord.indexKeys}. */
  get columns(): readonly string[] {
    return this.#options.columns;
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
    const discard = this.#deletions(this.#doubtful);
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
   * @param saved The newest saved version of a key.
   */
  async compact(saved: (key: string) => StoredRecord | undefined): Promise<boolean> {
    await this.#settle();
    const plan = planCompaction([...this.segments.values()]);
    if (plan.length === 0) return false;
    const numbers = new Set(plan.map(({ number }) => number));
    const left = [...this.segments.keys()].filter((number) => !numbers.has(number));
    this.#compacting = true;
    try {
      const merged = await this.#loadWhole([...numbers]);
      const oldestLeft = left[0] ?? Number.POSITIVE_INFINITY;
      await this.#replace(numbers, left, mergeSegments(merged, oldestLeft, saved));
    } finally {
      this.#compacting = false;
    }
    return true;
  }

  /** To be called whenever nobody is reading. */
  forgetReplaced(): void {
    if (!this.#compacting && !this.#unsettled) this.#replacedBodies.clear();
  }

  /** Segments with their bodies, which stay at hand for readers. */
  async #loadWhole(numbers: readonly number[]): Promise<WholeSegment[]> {
    const [segments, bodies] = await Promise.all([
      this.#readSegments(numbers),
      Promise.all(numbers.map((number) => this.load(number))),
    ]);
    return segments.map((segment, index) => {
      const { number } = segment;
      const whole = bodies[index] as SegmentBodies;
      this.#replacedBodies.set(number, whole);
      return { segment, bodies: whole.bodies };
    });
  }

  async #readSegments(numbers: readonly number[]): Promise<Segment[]> {
    const keys = numbers.map((number) => [this.name, number]);
    const found = await this.#options.storage.getMany('segments', keys);
    return found.map((segment, index) => {
      if (segment === undefined) throw segmentLost(this.name, numbers[index] as number);
      return segment as Segment;
    });
  }

  async #replace(
    numbers: ReadonlySet<number>,
    left: readonly number[],
    contents: SegmentContent[],
  ): Promise<void> {
    const first = this.#newest + 1 + this.#doubtful.length;
    const next = first + contents.length;
    const manifest = this.#makeManifest(
      [...left, ...contents.map((_, index) => first + index)],
      next,
    );
    const written: Written[] = [];
    const gone = this.#deletions([...numbers, ...this.#doubtful]);
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
    const stored = await readManifest(this.#options.storage, this.name);
    if (isSame(stored, this.#unsettled.manifest)) this.#replaced(this.#unsettled);
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

  /**
   * Writes the columns of segments that lack them. Nothing else may be written meanwhile.
   *
   * @param records The live records of each segment, by its number.
   */
  async addColumns(records: ReadonlyMap<number, readonly StoredRecord[]>): Promise<void> {
    const numbers = [...records.keys()].filter((number) => this.segments.has(number));
    const segments = await this.#readSegments(numbers);
    const { columns } = this.#options;
    const put = (segment: Segment): StorageOperation => {
      const places: (StoredRecord | undefined)[] = segment.keys.map(() => undefined);
      for (const record of records.get(segment.number) ?? []) places[record.index] = record;
      const value = { ...segment, indexed: indexedColumns(places, columns) };
      return { type: 'put', store: 'segments', key: [this.name, segment.number], value };
    };
    await this.#write(segments.map(put));
  }

  /** The bodies of a segment, from the pool or from storage. */
  load(number: number): Promise<SegmentBodies> {
    const atHand = this.peek(number);
    if (atHand) return Promise.resolve(atHand);
    const inline = this.segments.get(number)?.inline ?? false;
    return this.#options.pool.load({ collection: this.name, number, inline });
  }

  /** The bodies of a segment, if they are at hand. */
  peek(number: number): SegmentBodies | undefined {
    return this.#replacedBodies.get(number) ?? this.#options.pool.peek(this.name, number);
  }

  /** Drops bodies that all records of a segment keep themselves by now. */
  release(number: number): void {
    this.#options.pool.forget(this.name, number);
  }

  /** Removes the collection with all it has in storage. */
  async drop(): Promise<void> {
    try {
      await this.#write([
        { type: 'deletePrefix', store: 'segments', prefix: [this.name] },
        { type: 'deletePrefix', store: 'bodies', prefix: [this.name] },
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
      return (await readManifest(this.#options.storage, this.name)) !== undefined;
    } catch {
      // The failure that led here is reported.
      return true;
    }
  }

  #write(operations: Iterable<StorageOperation>): Promise<void> {
    return this.#options.storage.write(operations, this.#options.durability);
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
      const { segment, bodies } = buildSegment(content, number, after, this.#options.columns);
      const key = [this.name, number];
      written.push({ segment, bodies, records: content.records });
      yield { type: 'put', store: 'segments', key, value: segment };
      if (!segment.bodies) {
        yield { type: 'put', store: 'bodies', key, value: bodies, size: bodies.size };
      }
      after = number++;
    }
  }

  /** Takes written segments into the books, and tells their records where they rest. */
  #adopt(written: readonly Written[]): void {
    for (const { segment, bodies, records } of written) {
      records.forEach((record, index) => {
        record.segment = segment.number;
        record.index = index;
      });
      if (!this.#options.caching) this.#options.pool.keep(this.name, bodies);
      this.#enter(segment);
    }
  }

  #enter({ number, size, deletes: keys, bodies }: Segment): void {
    const deletes = deletesSize(keys);
    const inline = bodies !== undefined;
    this.segments.set(number, { number, size, deletes, inline, live: size - deletes });
    this.#newest = number;
  }

  #deletions(numbers: readonly number[]): StorageOperation[] {
    const stores = ['segments', 'bodies'] as const;
    return numbers.flatMap((number) =>
      stores.map((store) => ({ type: 'delete' as const, store, key: [this.name, number] })),
    );
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
