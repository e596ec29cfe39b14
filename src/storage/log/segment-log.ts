import type { Durability, Storage, StorageOperation } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import { LogBodies } from '../segments/log-bodies.ts';
import { readListed, type TakeSegment } from '../segments/read-segments.ts';
import {
  type IndexColumns,
  type Segment,
  type SegmentContent,
  type SegmentSizes,
  segmentSizes,
} from '../segments/segment.ts';
import type { SegmentPool } from '../segments/segment-pool.ts';
import { SegmentWriter, type Written } from '../segments/segment-writer.ts';
import type { Watermark, Watermarks } from '../segments/watermarks.ts';
import { AppendWrite } from './append-write.ts';
import { dropOperations, isDropped, type LeftBackup } from './drop-operations.ts';
import { type LiveSegmentList, LiveSegments, stateOf } from './live-segments.ts';
import { type Attachment, type Changes, type LogState, Orphans, UndoLog } from './log-writes.ts';
import { EPOCH_SPAN, isSameList, type Manifest, noManifest, putManifest } from './manifest.ts';
import { ManifestSwap, type SwapOptions } from './manifest-swap.ts';
import { findManifest, type LogReader, readLog, readManifest } from './open-log.ts';

/**
 * The saved part of a collection: immutable segments, numbered upward. A save appends segments,
 * opening folds them in order, compaction merges some into others, restoring a backup swaps the
 * whole list.
 *
 * Writes must not overlap; the save schedule runs them one after another.
 */
export class SegmentLog {
  readonly name: string;
  readonly bodies: LogBodies;
  readonly sizes: SegmentSizes;
  readonly #options: SegmentLogOptions;
  readonly #writer: SegmentWriter;
  readonly #live: LiveSegments;
  readonly #undo = new UndoLog();
  readonly #orphans: Orphans;
  readonly #state: LogState;
  /** A failed compaction that may be stored nevertheless. */
  #doubtful: CompactionWrite | undefined;

  constructor(options: SegmentLogOptions) {
    const { name, type, storage, pool, caching, columns } = options;
    this.#options = options;
    this.name = name;
    this.bodies = new LogBodies(name, storage, pool, caching);
    this.sizes = segmentSizes(storage);
    this.#writer = new SegmentWriter(name, columns, this.sizes);
    this.#live = new LiveSegments(name, type);
    this.#orphans = new Orphans(this.#live, options.referenced);
    this.#state = {
      ...{ live: this.#live, undo: this.#undo },
      ...{ bodies: this.bodies, orphans: this.#orphans },
    };
  }

  /** The live segments, lowest number first. Superseding a record takes its size from `live`. */
  get segments(): ReadonlyMap<number, SegmentState> {
    return this.#live.states;
  }

  /** Number of the newest live segment. */
  get newest(): number {
    return this.#live.newest;
  }

  get live(): LiveSegmentList {
    return this.#live.list;
  }

  /** The stored changes of clients. */
  get watermarks(): Watermarks {
    return this.#live.watermarks;
  }

  /** Whether the collection is in storage. */
  get exists(): boolean {
    return this.#live.manifest !== undefined;
  }

  /** Whether a failed save may have been stored; the next write undoes it. */
  get inDoubt(): boolean {
    return this.#undo.inDoubt;
  }

  /** Whether a failed compaction may have been stored; {@link resolveDoubt} checks. */
  get isCompactionInDoubt(): boolean {
    return this.#doubtful !== undefined;
  }

  /**
   * Reads the manifest, then the live segments, without encoded documents that are a value of their
   * own.
   */
  async open({ begin, take, pause }: LogReader): Promise<void> {
    const states = new Map<number, SegmentState>();
    const reader: LogReader = {
      begin: (manifest, checkpoint) => {
        this.#live.version = manifest.version ?? 1;
        return begin?.(manifest, checkpoint);
      },
      take: (segment, hashes) => {
        this.#note(states, segment);
        take(segment, hashes);
      },
      pause,
    };
    const { manifest, watermarks, highest, others, last } = await readLog(
      this.#options.storage,
      this.name,
      reader,
    );
    this.#live.replaceAll(states, manifest);
    this.#live.noted = last;
    this.watermarks.merge(watermarks);
    this.#orphans.add(others);
    await this.#begin(highest);
  }

  /** Makes a damaged collection writable, without knowing which of its segments are live. */
  async openDamaged(): Promise<void> {
    const { storage } = this.#options;
    const manifest = await findManifest(storage, this.name);
    this.#live.stored = manifest;
    if (manifest) this.#live.version = manifest.version ?? 1;
    const keys = await storage.keys('segments', [this.name]);
    this.#orphans.add(keys.map(([, number]) => number as number));
    const highest = (keys.at(-1)?.[1] ?? 0) as number;
    await this.#begin(Math.max(this.#writer.last, (manifest?.next ?? 1) - 1, highest));
  }

  /** @param highest The highest number in storage. */
  async #begin(highest: number): Promise<void> {
    this.#live.first = (await this.#options.epoch()) * EPOCH_SPAN;
    this.#writer.last = Math.max(highest, this.#live.first - 1);
  }

  /**
   * Stores the list of live segments, unless this leader has done so: segments that an older leader
   * appends later do not count. Without this call the first save does it.
   */
  async recordTakeover(): Promise<void> {
    if (!this.exists || this.#live.isRecorded) return;
    const manifest = this.#makeManifest(this.segments.keys());
    await this.write([putManifest(manifest)]);
    this.#live.stored = manifest;
  }

  /**
   * The version of the documents. Of a collection that is not stored, the highest of its handles.
   */
  get version(): number {
    return this.#live.version;
  }

  /** A handle of a collection without documents expects this version at least. */
  raiseVersion(version: number): void {
    this.#live.version = Math.max(this.#live.version, version);
  }

  /** As {@link Manifest.replicated}; 0 where the collection is not. */
  get replicated(): number {
    return this.#live.replicated;
  }

  /**
   * Notes in storage whether the collection is replicated. Nothing else may be written meanwhile.
   */
  async recordReplication(isReplicated: boolean): Promise<void> {
    await this.resolveDoubt();
    const before = this.#live.replicated;
    this.#live.replicated = isReplicated ? 1 : 0;
    const manifest = this.#makeManifest(this.segments.keys());
    try {
      await this.write([putManifest(manifest)]);
    } catch (error) {
      this.#live.replicated = before;
      throw error;
    }
    this.#live.stored = manifest;
  }

  /** A compaction in doubt must be resolved before the operations are drawn. */
  prepareAppend(changes: Changes, attach?: Attachment): AppendWrite {
    return new AppendWrite(this.#state, this.#writer, changes, attach);
  }

  /** Writes prepared operations, atomically, of this log and perhaps of others. */
  commit(operations: Iterable<StorageOperation>): Promise<void> {
    const { storage, durability } = this.#options;
    return storage.write(operations, durability);
  }

  /**
   * Replaces live segments by new ones, atomically. Merged segments stay in storage while backups
   * reference them. Nothing else may be written meanwhile.
   */
  async replace(merged: ReadonlySet<number>, contents: readonly SegmentContent[]): Promise<void> {
    const referenced = await this.#options.referenced();
    const left = [...this.segments.keys()].filter((number) => !merged.has(number));
    const written = [...this.#writer.build(contents, this.#live.newest)];
    const manifest = this.#makeManifest([...left, ...written.map(({ segment }) => segment.number)]);
    const gone = [...merged].filter((number) => !referenced.has(number));
    const compaction = new CompactionWrite(this.#state, { merged, gone, written, manifest });
    this.#doubtful = compaction;
    const puts = this.#writer.puts(written);
    await this.write(puts, this.#writer.deletions(gone), [putManifest(manifest)]);
    compaction.stored();
    this.#doubtful = undefined;
  }

  /** Checks whether a failed compaction was stored. */
  async resolveDoubt(): Promise<void> {
    if (await this.#doubtful?.wasStored(this.#options.storage)) this.#doubtful?.stored();
    this.#doubtful = undefined;
  }

  /**
   * Writes segments that do not count until {@link prepareSwap} lists them, or {@link unstage}
   * removes them.
   */
  async stage(contents: Iterable<SegmentContent>): Promise<readonly number[]> {
    const written: Written[] = [];
    const segments = this.#writer.build(contents, this.#live.newest, { staged: true });
    // Segments without a manifest would be data that has lost it.
    const room = { ...this.#makeManifest([]), dropped: true, kept_until: 0 } as const;
    try {
      await this.write(
        this.#live.isNew ? [putManifest(room)] : [],
        this.#writer.puts(segments, written),
      );
    } finally {
      // A failed write may have been stored.
      this.#orphans.add(written.map(({ segment }) => segment.number));
    }
    return written.map(({ segment }) => segment.number);
  }

  /**
   * Removes what was staged, and undoes a swap in doubt: a collection that was not stored is not.
   */
  unstage(): Promise<void> {
    return this.#collect(this.#live.isNew ? [noManifest(this.name)] : []);
  }

  /**
   * Reads segments, live or not, in ascending order.
   *
   * @param withBodies Whether to read their bodies too.
   * @returns their states, for {@link prepareSwap}.
   * @throws {StorageError} `data_damaged` when one is missing or damaged.
   */
  async read(
    numbers: readonly number[],
    fold: TakeSegment,
    withBodies = false,
  ): Promise<Map<number, SegmentState>> {
    const states = new Map<number, SegmentState>();
    const take: TakeSegment = (segment, hashes, bodies) => {
      this.#note(states, segment);
      fold(segment, hashes, bodies);
    };
    await readListed(this.#options.storage, this.name, numbers, take, withBodies);
    return states;
  }

  /**
   * Segments that were live stay in storage until {@link collectGarbage}, and can be read. A
   * compaction in doubt must be resolved before.
   */
  prepareSwap(states: ReadonlyMap<number, SegmentState>, options: SwapOptions): ManifestSwap {
    return new ManifestSwap(this.#state, states, ++this.#writer.last, options);
  }

  /** Deletes orphans that no backup references. Nothing else may be written meanwhile. */
  collectGarbage(): Promise<void> {
    return this.#collect([]);
  }

  /** @param manifest What is written in the same transaction. */
  async #collect(manifest: readonly StorageOperation[]): Promise<void> {
    const garbage = await this.#orphans.findGarbage();
    if (garbage.length > 0 || manifest.length > 0 || this.inDoubt)
      await this.write(this.#writer.deletions(garbage), manifest);
    this.#orphans.forget(garbage);
    this.bodies.forget(garbage);
  }

  /** Must be called with segments that a backup no longer references. */
  addOrphans(numbers: Iterable<number>): void {
    this.#orphans.add(numbers);
  }

  /**
   * Removes the collection, except for a tombstone ({@link dropOperations}).
   *
   * @param applied Watermarks of the applied changes, saved or not.
   */
  async drop(
    applied: readonly Watermark[],
    left?: LeftBackup,
    beside: readonly StorageOperation[] = [],
  ): Promise<void> {
    const { storage } = this.#options;
    const drop = await dropOperations(storage, this.#live, this.#writer.last, applied, left);
    try {
      await this.write(drop, beside);
    } catch (error) {
      if (!(await isDropped(storage, this.name))) throw error;
    }
    this.bodies.forget(this.segments.keys());
    this.#live.states.clear();
    this.#live.stored = undefined;
  }

  /**
   * Writes, atomically, behind the undo of writes that failed: nothing may be deleted that only
   * those need.
   */
  async write(...operations: readonly Iterable<StorageOperation>[]): Promise<void> {
    await this.commit(this.#undo.before(...operations));
    this.#undo.clear();
  }

  #note(states: Map<number, SegmentState>, segment: Segment): void {
    states.set(segment.number, stateOf(segment));
    this.bodies.note(segment);
  }

  #makeManifest(segments: Iterable<number>) {
    return this.#live.makeManifest(segments, this.#writer.last);
  }
}

interface SegmentLogOptions {
  readonly name: string;
  readonly type: string;
  readonly storage: Storage;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  /** Whether the collection caches its encoded documents, so that the pool need not. */
  readonly caching: boolean;
  /** The columns of the current indexes. */
  readonly columns: () => IndexColumns;
  /**
   * The epoch of this leader. Segments that an older leader appends after this one has opened do
   * not count.
   */
  readonly epoch: () => Promise<number>;
  /** Segments that backups reference: they stay, live or not. */
  readonly referenced: () => Promise<ReadonlySet<number>>;
}

interface Compaction {
  readonly merged: ReadonlySet<number>;
  /** Those of them that no backup references: they are deleted. */
  readonly gone: readonly number[];
  readonly written: readonly Written[];
  readonly manifest: Manifest;
}

/**
 * The write of a compaction: new segments replace live ones. A failed one may be stored
 * nevertheless.
 */
class CompactionWrite {
  readonly #state: LogState;
  readonly #compaction: Compaction;

  constructor(state: LogState, compaction: Compaction) {
    this.#state = state;
    this.#compaction = compaction;
  }

  /** Must be called when the write is stored. */
  stored(): void {
    const { live, undo, bodies } = this.#state;
    const { merged, gone, written, manifest } = this.#compaction;
    undo.clear();
    live.stored = manifest;
    for (const number of merged) {
      live.states.delete(number);
      bodies.merged(number);
    }
    bodies.forget(gone);
    live.append(written);
    bodies.noteWritten(written);
  }

  /** Whether a failed write was stored: its transaction includes the manifest. */
  async wasStored(storage: Storage): Promise<boolean> {
    const { manifest } = this.#compaction;
    return isSameList(await readManifest(storage, manifest.name), manifest);
  }
}
