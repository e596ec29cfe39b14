import type { Durability, Storage, StorageOperation } from '../drivers/driver.ts';
import { planCompaction, type SegmentState } from '../segments/compaction.ts';
import { LogBodies, type SegmentPool } from '../segments/log-bodies.ts';
import { readListed, type TakeSegment } from '../segments/read-segments.ts';
import {
  type IndexColumns,
  type Segment,
  type SegmentSizes,
  segmentSizes,
} from '../segments/segment.ts';
import { SegmentWriter } from '../segments/segment-writer.ts';
import type { Watermarks } from '../segments/watermarks.ts';
import { type LiveSegmentList, LiveSegments, stateOf } from './live-segments.ts';
import {
  type Attachment,
  appending,
  type Changes,
  type LogChange,
  type LogState,
  type LogWrite,
  Orphans,
  recording,
  UndoLog,
  writeTogether,
} from './log-writes.ts';
import { EPOCH_SPAN } from './manifest.ts';
import { type LogReader, readLog } from './open-log.ts';

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
  readonly state: LogState;

  constructor(options: SegmentLogOptions) {
    const { name, type, storage, pool, caching, columns } = options;
    this.#options = options;
    this.name = name;
    this.bodies = new LogBodies(name, storage, pool, caching);
    this.sizes = segmentSizes(storage);
    this.#writer = new SegmentWriter(name, columns, this.sizes);
    this.#live = new LiveSegments(name, type);
    this.#orphans = new Orphans(this.#live);
    this.state = {
      storage,
      live: this.#live,
      bodies: this.bodies,
      orphans: this.#orphans,
      referenced: options.referenced,
      writer: this.#writer,
    };
  }

  /** The live segments, lowest number first. Superseding a record takes its size from `live`. */
  get segments(): ReadonlyMap<number, SegmentState> {
    return this.#live.states;
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

  /** Whether a failed write may have been stored; the next one undoes it. */
  get inDoubt(): boolean {
    return this.#undo.inDoubt;
  }

  /** Reads the manifest, then the live segments without bodies of their own. */
  async open(reader: LogReader): Promise<void> {
    const states = new Map<number, SegmentState>();
    const { manifest, watermarks, highest, others } = await readLog(
      this.#options.storage,
      this.name,
      {
        ...reader,
        begin: (manifest, ...beside) => {
          this.#live.version = manifest.version ?? 1;
          return reader.begin?.(manifest, ...beside);
        },
        take: (segment, hashes) => {
          this.#note(states, segment);
          reader.take(segment, hashes);
        },
      },
    );
    this.#live.replaceAll(states, manifest);
    this.watermarks.merge(watermarks);
    this.#orphans.add(others);
    await this.begin(highest);
  }

  /**
   * Must be called once what is stored is read.
   *
   * @param highest The highest number in storage.
   */
  async begin(highest: number): Promise<void> {
    this.#live.first = (await this.#options.epoch()) * EPOCH_SPAN;
    this.#writer.last = Math.max(highest, this.#live.first - 1);
  }

  /**
   * Stores the list of live segments, unless this leader has done so: segments that an older leader
   * appends later do not count. Without this call the first save does it.
   */
  async recordTakeover(): Promise<void> {
    if (this.exists && !this.#live.isRecorded) await this.recordReplication(this.replicated);
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
   *
   * @param replicated 0 where it is not.
   */
  recordReplication(replicated: number): Promise<void> {
    return this.commit([this.prepare(recording(this.state, replicated))]);
  }

  prepareAppend(changes: Changes, attach?: Attachment): LogWrite {
    return this.prepare(appending(this.state, changes, attach));
  }

  /** Stores prepared writes in one transaction, of this log and perhaps of others. */
  commit(writes: readonly LogWrite[]): Promise<void> {
    const { storage, durability } = this.#options;
    return writeTogether((operations) => storage.write(operations, durability), writes);
  }

  /** Segments that are live no more stay in storage until they are collected. */
  prepare(change: LogChange): LogWrite {
    return {
      ...change,
      operations: this.#undo.before(change.operations),
      stored: () => {
        this.#undo.clear();
        change.stored();
      },
      failed: (undo) => this.#undo.add(undo),
    };
  }

  /**
   * Reads segments, live or not, in ascending order.
   *
   * @param withBodies Whether to read their bodies too.
   * @returns their states.
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

  /** The segments to merge: too many are small or mostly dead. */
  get mergeable(): readonly SegmentState[] {
    return planCompaction([...this.segments.values()], this.sizes);
  }

  /** Whether there may be garbage, or segments that can go without a new one. */
  get isRemovalDue(): boolean {
    const { mergeable } = this;
    const isEmpty = mergeable.length > 0 && mergeable.every(({ live }) => live === 0);
    return isEmpty || this.#orphans.numbers.size > 0;
  }

  /** Whether there may be garbage, or segments to merge. */
  get isUntidy(): boolean {
    return this.#orphans.numbers.size > 0 || this.inDoubt || this.mergeable.length > 0;
  }

  /** @param beside What is written in the same transaction. */
  async remove(
    segments: readonly number[],
    beside: readonly StorageOperation[] = [],
  ): Promise<void> {
    if (segments.length + beside.length > 0 || this.inDoubt)
      await this.write(this.#writer.deletions(segments), beside);
    this.#orphans.forget(segments);
    this.bodies.forget(segments);
  }

  /**
   * Writes, atomically, behind the undo of writes that failed: nothing may be deleted that only
   * those need.
   */
  async write(...operations: readonly Iterable<StorageOperation>[]): Promise<void> {
    const { storage, durability } = this.#options;
    await storage.write(this.#undo.before(...operations), durability);
    this.#undo.clear();
  }

  #note(states: Map<number, SegmentState>, segment: Segment): void {
    states.set(segment.number, stateOf(segment));
    this.bodies.note(segment);
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
  readonly columns: () => IndexColumns;
  /**
   * The epoch of this leader. Segments that an older leader appends after this one has opened do
   * not count.
   */
  readonly epoch: () => Promise<number>;
  readonly referenced: LogState['referenced'];
}
