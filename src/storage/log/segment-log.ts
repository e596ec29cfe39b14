import type { Body } from '../../codec/body.ts';
import type { Durability, Storage, StorageOperation, StoragePut } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import {
  cutSegments,
  deletesSize,
  type Segment,
  type SegmentContent,
} from '../segments/segment.ts';
import type { SegmentPool } from '../segments/segment-pool.ts';
import { SegmentWriter, type Written } from '../segments/segment-writer.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { type Watermark, Watermarks } from '../segments/watermarks.ts';
import { dropOperations, type LeftBackup } from './drop-operations.ts';
import { LogBodies } from './log-bodies.ts';
import type { Along, Changes, LiveList, ManifestSwap } from './log-writes.ts';
import {
  EPOCH_SPAN,
  FORMAT,
  isSameList,
  type Manifest,
  noManifest,
  putManifest,
} from './manifest.ts';
import { readListed, readLog, readManifest, segmentLost } from './open-log.ts';

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
  /** The epoch of this leader: segments of older ones that were not there at opening count for nothing. */
  readonly epoch: () => Promise<number>;
  /** Segments that must stay, live or not: backups name them. */
  readonly referenced: () => Promise<ReadonlySet<number>>;
}

/** A compaction whose write failed. Where the connection was lost, it may have been stored all the same. */
interface Replacement {
  readonly numbers: ReadonlySet<number>;
  readonly written: readonly Written[];
  readonly manifest: Manifest;
}

/**
 * The saved part of a collection: immutable segments, numbered upward. Saving appends segments, opening
 * folds them in order, compaction replaces some by others, a backup that is restored replaces the list.
 *
 * Writes must be made one after another; the save schedule sees to that.
 */
export class SegmentLog {
  readonly name: string;
  readonly bodies: LogBodies;
  /** The live segments, lowest number first. Whoever supersedes a record takes its size from `live`. */
  readonly segments = new Map<number, SegmentState>();
  /** How far the changes of clients are in storage. */
  readonly watermarks = new Watermarks();
  readonly #options: SegmentLogOptions;
  readonly #writer: SegmentWriter;
  /** The first number that this leader gives. */
  #first = 1;
  #manifest: Manifest | undefined;
  /** Number of the newest live segment. */
  #newest = 0;
  /** Number of the last change. */
  #changed = 0;
  /** Takes back what failed and may have been stored all the same. Goes with the next write, before it. */
  #undo: StorageOperation[] = [];
  /** Segments in storage that are not live, and that no backup may name. */
  readonly #orphans = new Set<number>();
  /** Whether it is known what is live. Where data is damaged it is not, and nothing may be swept away. */
  #isKnown = false;
  /** A compaction of which it is not known whether it was stored. */
  #unsettled: Replacement | undefined;

  constructor(options: SegmentLogOptions) {
    this.#options = options;
    this.name = options.name;
    this.bodies = new LogBodies(options.name, options.pool);
    this.#writer = new SegmentWriter(options.name, options.columns);
  }

  /**
   * Reads the manifest, then every segment in order, without the bodies of those that are not small.
   *
   * @param begin Called once with the type the collection was made with, before any segment.
   * @param fold Called with each segment, lowest number first.
   */
  async open(begin: (type: string) => void, fold: (segment: Segment) => void): Promise<void> {
    const states = new Map<number, SegmentState>();
    const { manifest, watermarks, highest, others } = await readLog(
      this.#options.storage,
      this.name,
      (found) => begin(found.type),
      (segment) => {
        this.#note(states, segment);
        fold(segment);
      },
    );
    this.#manifest = manifest;
    this.watermarks.merge(watermarks);
    await this.#begin(highest);
    for (const number of others) this.#orphans.add(number);
    this.#setLive(states);
    const later = manifest && this.#newest >= manifest.next;
    this.#changed = later ? this.#newest : (manifest?.changed ?? 0);
  }

  /** Finds out what there is of a collection that is damaged, so that it can be written to. */
  async takeStock(): Promise<void> {
    const { storage } = this.#options;
    this.#manifest = await readManifest(storage, this.name);
    const keys = await storage.keys('segments', [this.name]);
    for (const [, number] of keys) this.#orphans.add(number as number);
    const highest = (keys.at(-1)?.[1] ?? 0) as number;
    await this.#begin(Math.max(this.#writer.last, (this.#manifest?.next ?? 1) - 1, highest));
  }

  /** @param highest The highest number in storage. */
  async #begin(highest: number): Promise<void> {
    this.#first = (await this.#options.epoch()) * EPOCH_SPAN;
    this.#writer.last = Math.max(highest, this.#first - 1);
  }

  /**
   * Stores which segments this leader has taken over. From then on what an older one appends counts for nothing.
   * Else the first save does it.
   */
  async record(): Promise<void> {
    if (!this.#manifest || this.#isRecorded) return;
    const manifest = this.#makeManifest([...this.segments.keys()]);
    await this.write([putManifest(manifest)]);
    this.#manifest = manifest;
  }

  get #isRecorded(): boolean {
    return this.#manifest !== undefined && this.#manifest.next >= this.#first;
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
    return this.#undo.length > 0;
  }

  get live(): LiveList {
    return { segments: [...this.segments.values()], changed: this.#changed };
  }

  /**
   * Appends changes, atomically, and stores that the collection exists. On failure nothing has changed and the
   * same changes can be appended again.
   */
  async append({ records, deletes, watermarks }: Changes, along?: Along): Promise<void> {
    await this.settle();
    const manifest = this.#isRecorded ? undefined : this.#makeManifest([...this.segments.keys()]);
    const written: Written[] = [];
    const takenBack: StorageOperation[] = [];
    const changedWith = () => written.at(-1)?.segment.number ?? this.#changed;
    try {
      await this.write(
        function* (this: SegmentLog): Generator<StorageOperation> {
          if (manifest) yield putManifest(manifest);
          // Cut while it is written, a segment at a time: a large save must not block the thread.
          for (const one of this.#build(cutSegments(deletes, records, pendingBody), {
            watermarks,
          })) {
            written.push(one);
            yield* this.#writer.puts(one);
          }
          if (!along) return;
          const segments = [...this.segments.values(), ...written.map(({ segment }) => segment)];
          const put = along({ segments, changed: changedWith() });
          if (!put) return;
          takenBack.push(takeBack(put));
          yield put;
        }.call(this),
      );
    } catch (error) {
      const numbers = written.map(({ segment }) => segment.number);
      this.#undo.push(...this.#writer.deletions(numbers), ...takenBack);
      throw error;
    }
    if (manifest) this.#manifest = manifest;
    if (watermarks) this.watermarks.merge(watermarks);
    this.#changed = changedWith();
    this.#adopt(written);
  }

  /**
   * Puts new segments in the place of live ones, atomically. The old ones stay where backups name them.
   * Nothing else may be written meanwhile.
   */
  async replace(numbers: ReadonlySet<number>, contents: readonly SegmentContent[]): Promise<void> {
    const kept = await this.#options.referenced();
    const left = [...this.segments.keys()].filter((number) => !numbers.has(number));
    const written = [...this.#build(contents)];
    const manifest = this.#makeManifest([...left, ...written.map(({ segment }) => segment.number)]);
    const gone = this.#writer.deletions([...numbers].filter((number) => !kept.has(number)));
    this.#unsettled = { numbers, written, manifest };
    await this.write(
      function* (this: SegmentLog): Generator<StorageOperation> {
        for (const one of written) yield* this.#writer.puts(one);
        yield* gone;
        yield putManifest(manifest);
      }.call(this),
    );
    this.#replaced(this.#unsettled);
  }

  /** Whether it is not known yet if a compaction was stored. */
  get isUnsettled(): boolean {
    return this.#unsettled !== undefined;
  }

  /** Finds out whether a compaction that failed was stored: its manifest went with it. */
  async settle(): Promise<void> {
    if (!this.#unsettled) return;
    const stored = await readManifest(this.#options.storage, this.name);
    if (isSameList(stored, this.#unsettled.manifest)) this.#replaced(this.#unsettled);
    this.#unsettled = undefined;
  }

  /** Writes segments that count for nothing until they are {@link prepareSwap | listed}. */
  async stage(contents: Iterable<SegmentContent>): Promise<readonly number[]> {
    const numbers: number[] = [];
    await this.write(
      function* (this: SegmentLog): Generator<StorageOperation> {
        for (const one of this.#build(contents, { staged: true })) {
          const { number } = one.segment;
          numbers.push(number);
          this.#orphans.add(number);
          yield* this.#writer.puts(one);
        }
      }.call(this),
    );
    return numbers;
  }

  /**
   * Reads segments that need not be live, in ascending order.
   *
   * @returns the states of these segments, for {@link prepareSwap}.
   * @throws {StorageError} `data_damaged` when one is missing.
   */
  async read(
    numbers: readonly number[],
    fold: (segment: Segment) => void,
  ): Promise<Map<number, SegmentState>> {
    const states = new Map<number, SegmentState>();
    await readListed(this.#options.storage, this.name, numbers, (segment) => {
      this.#note(states, segment);
      fold(segment);
    });
    return states;
  }

  /** @throws {StorageError} `data_damaged` when the bodies of a segment that was read are missing. */
  async checkBodies(numbers: Iterable<number>): Promise<void> {
    const keys = await this.#options.storage.keys('bodies', [this.name]);
    const stored = new Set(keys.map(([, number]) => number));
    for (const number of this.bodies.apart(numbers)) {
      if (!stored.has(number)) throw segmentLost(this.name, number);
    }
  }

  /**
   * What makes other segments the live ones, atomically. Those that were live stay in storage until
   * {@link collectGarbage}, and can be read.
   *
   * @param along Values that are written with it.
   */
  async prepareSwap(
    states: ReadonlyMap<number, SegmentState>,
    along: readonly StoragePut[],
  ): Promise<ManifestSwap> {
    await this.settle();
    const undo = this.#undo;
    const changed = ++this.#writer.last;
    const manifest = { ...this.#makeManifest([...states.keys()]), changed };
    const before = this.#manifest ? putManifest(this.#manifest) : noManifest(this.name);
    return {
      // What is taken back is among them: they may be written along with those of other collections.
      operations: [...undo, ...along, putManifest(manifest)],
      failed: () => void this.#undo.push(...along.map(takeBack), before),
      stored: () => {
        this.#undo = [];
        this.#manifest = manifest;
        this.#changed = changed;
        for (const number of this.segments.keys()) this.#orphans.add(number);
        for (const number of states.keys()) this.#orphans.delete(number);
        this.#setLive(states);
      },
    };
  }

  /** Removes what is neither live nor named by a backup. Nothing else may be written meanwhile. */
  async collectGarbage(): Promise<void> {
    if (this.#orphans.size === 0 || !this.#isKnown) return;
    const kept = await this.#options.referenced();
    const gone = [...this.#orphans].filter((number) => !kept.has(number));
    if (gone.length > 0) await this.write(this.#writer.deletions(gone));
    this.#orphans.clear();
    this.bodies.forget(gone);
  }

  /** To be called with segments that a backup named: they go, unless something still needs them. */
  addOrphans(numbers: Iterable<number>): void {
    for (const number of numbers) if (!this.segments.has(number)) this.#orphans.add(number);
  }

  /** Gives live segments columns for indexes. Nothing else may be written meanwhile. */
  async addColumns(
    numbers: readonly number[],
    columnsOf: (segment: Segment) => Promise<Segment['indexed']>,
  ): Promise<void> {
    const segments: Segment[] = [];
    const live = numbers.filter((number) => this.segments.has(number));
    await readListed(this.#options.storage, this.name, live, (segment) => segments.push(segment));
    const puts = segments.map(async (segment): Promise<StorageOperation> => {
      const value = { ...segment, indexed: await columnsOf(segment) };
      return { type: 'put', store: 'segments', key: [this.name, segment.number], value };
    });
    await this.write(await Promise.all(puts));
  }

  /**
   * Removes the collection, but for a tombstone ({@link dropOperations}).
   *
   * @param made How far the changes of clients were made, saved or not.
   */
  async drop(made: readonly Watermark[], left?: LeftBackup): Promise<void> {
    const watermarks = new Watermarks();
    watermarks.merge(made);
    const empty = this.#makeManifest([], watermarks);
    const operations = await dropOperations(
      this.#options.storage,
      empty,
      watermarks.keptUntil,
      left,
    );
    try {
      await this.write(operations);
    } catch (error) {
      if (await this.#mayBeStored()) throw error;
    }
    this.bodies.forget(this.segments.keys());
    this.segments.clear();
    this.#manifest = undefined;
  }

  async #mayBeStored(): Promise<boolean> {
    try {
      const manifest = await readManifest(this.#options.storage, this.name);
      return manifest !== undefined && !manifest.dropped;
    } catch {
      // The failure that led here is reported.
      return true;
    }
  }

  /**
   * Writes, atomically, and takes back before whatever failed and may have been stored: nothing may be removed
   * that only what is taken back needs.
   */
  async write(operations: Iterable<StorageOperation>): Promise<void> {
    const { storage, durability } = this.#options;
    const undo = this.#undo;
    await storage.write(inTurn(undo, operations), durability);
    this.#undo = [];
  }

  #build(
    contents: Iterable<SegmentContent>,
    marking?: Pick<Segment, 'staged' | 'watermarks'>,
  ): Generator<Written> {
    return this.#writer.build(contents, this.#newest, marking);
  }

  /** Takes written segments into the books, and tells their records where they rest. */
  #adopt(written: readonly Written[]): void {
    for (const { segment, bodies, records } of written) {
      records.forEach((record, index) => {
        record.segment = segment.number;
        record.index = index;
      });
      if (!this.#options.caching) this.bodies.keep(bodies);
      this.#note(this.segments, segment);
      this.#newest = segment.number;
    }
  }

  #replaced({ numbers, written, manifest }: Replacement): void {
    this.#unsettled = undefined;
    this.#manifest = manifest;
    this.#undo = [];
    for (const number of numbers) {
      this.segments.delete(number);
      this.bodies.release(number);
    }
    this.#adopt(written);
  }

  #note(states: Map<number, SegmentState>, segment: Segment): void {
    const { number, size, deletes: keys } = segment;
    const deletes = deletesSize(keys);
    states.set(number, { number, size, deletes, live: size - deletes });
    this.bodies.note(segment);
  }

  #setLive(states: ReadonlyMap<number, SegmentState>): void {
    this.segments.clear();
    for (const [number, state] of states) this.segments.set(number, state);
    this.#newest = [...states.keys()].at(-1) ?? 0;
    this.#isKnown = true;
  }

  /** A manifest of these segments, with every number that was not given yet to come after it. */
  #makeManifest(segments: readonly number[], known = this.watermarks): Manifest {
    const { type } = this.#options;
    const next = this.#writer.last + 1;
    const watermarks = known.recent();
    const changed = this.#changed;
    return {
      format: FORMAT,
      name: this.name,
      type,
      segments,
      next,
      changed,
      ...(watermarks.length > 0 && { watermarks }),
    };
  }
}

function takeBack({ store, key }: StoragePut): StorageOperation {
  return { type: 'delete', store, key };
}

function* inTurn<T>(...parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

/** Invariant: a record that no segment holds has its body. */
function pendingBody(record: StoredRecord): Body {
  return record.body as Body;
}
