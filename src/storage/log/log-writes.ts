import type { Body } from '../../codec/body.ts';
import type { Storage, StorageOperation, StoragePut } from '../drivers/driver.ts';
import type { LogBodies } from '../segments/log-bodies.ts';
import { cutPart, type RecordPart } from '../segments/record-part.ts';
import { cutSegments, type SegmentContent } from '../segments/segment.ts';
import type { SegmentWriter, Written } from '../segments/segment-writer.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { noteLastSegment } from '../segments/stored-segment.ts';
import type { Watermark } from '../segments/watermarks.ts';
import { type LiveSegmentList, type LiveSegments, stateOf } from './live-segments.ts';
import { type Manifest, putManifest } from './manifest.ts';

/** A change of a log, in one transaction, and what becomes of memory with it. */
export interface LogChange {
  /** Drawn once. */
  readonly operations: Iterable<StorageOperation>;
  /** Undoes the operations drawn so far. */
  readonly undo: () => StorageOperation[];
  /** Must be called when the write has succeeded. */
  readonly stored: () => void;
}

/**
 * A change as it is written: behind the undo of earlier ones. Nothing else may be written to the
 * log until {@link stored} or {@link failed} is called.
 */
export interface LogWrite extends LogChange {
  /**
   * Must be called when the write has failed: it may have been stored, so the next write undoes it.
   *
   * @param undo Undoes the whole transaction, the parts of other logs included.
   */
  readonly failed: (undo: StorageOperation[]) => void;
}

/** Stores writes of several logs in one transaction: all of them, or none. */
export async function writeTogether(
  write: (operations: Iterable<StorageOperation>) => Promise<void>,
  writes: readonly LogWrite[],
): Promise<void> {
  try {
    await write(joined(writes.map(({ operations }) => operations)));
  } catch (error) {
    const undo = writes.flatMap((one) => one.undo());
    for (const one of writes) one.failed(undo);
    throw error;
  }
  for (const one of writes) one.stored();
}

/** Several iterables, one after another; each begins when it is due. */
export function* joined<T>(parts: readonly Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

/** A save: the newest versions of changed records, and deleted keys. */
export interface Changes {
  readonly records: Iterable<StoredRecord>;
  /** More new records; each part has segments of its own. */
  readonly parts: readonly RecordPart[];
  readonly deletes: Iterable<string>;
  /** The watermarks of the clients that made these changes. */
  readonly watermarks?: readonly Watermark[] | undefined;
}

/** Makes values to put in the transaction of a save, from the segments that are live after it. */
export type Attachment = (live: LiveSegmentList) => readonly UndoablePut[];

/** What the writes of a log change. */
export interface LogState {
  readonly storage: Storage;
  readonly live: LiveSegments;
  readonly bodies: LogBodies;
  readonly orphans: Orphans;
  /** Segments that backups reference: they stay, live or not; `undefined` if that is not known. */
  readonly referenced: () => Promise<ReadonlySet<number> | undefined>;
  readonly writer: SegmentWriter;
}

/** Appends changes, and creates the collection. */
export function appending(
  { live, bodies, writer }: LogState,
  changes: Changes,
  attach?: Attachment,
): LogChange {
  const { watermarks } = changes;
  const written: Written[] = [];
  let attached: readonly UndoablePut[] = [];
  let manifest: Manifest | undefined;
  function* operations(): Generator<StorageOperation> {
    if (!live.isRecorded) {
      manifest = live.makeManifest(live.states.keys(), writer.last);
      yield putManifest(manifest);
    }
    const segments = writer.build(contentsOf(changes, writer), live.newest, { watermarks });
    yield* writer.puts(segments, written);
    const changed = written.at(-1)?.segment.number ?? live.changed;
    yield noteLastSegment(live.name, changed);
    if (!attach) return;
    const appended = written.map(({ segment }) => stateOf(segment));
    attached = attach({
      segments: [...live.states.values(), ...appended],
      changed,
      version: live.version,
    });
    for (const { put } of attached) yield put;
  }
  return {
    operations: operations(),
    undo: () => [
      ...writer.deletions(written.map(({ segment }) => segment.number)),
      noteLastSegment(live.name, live.changed),
      ...attached.map(({ undo }) => undo),
    ],
    stored() {
      live.stored = manifest ?? live.stored;
      if (watermarks) live.watermarks.merge(watermarks);
      live.append(written);
      bodies.noteWritten(written);
      if (written.length > 0) live.changed = live.newest;
    },
  };
}

/** Stores the list of live segments anew. @param replicated As {@link Manifest.replicated}. */
export function recording({ live, writer }: LogState, replicated: number): LogChange {
  const before = live.putBack();
  const { replicated: _, ...others } = live.makeManifest(live.states.keys(), writer.last);
  const manifest = { ...others, ...(replicated > 0 && { replicated }) };
  return {
    operations: live.put(manifest),
    undo: () => before,
    stored() {
      live.stored = manifest;
      live.replicated = replicated;
    },
  };
}

function* contentsOf(
  { deletes, records, parts }: Changes,
  { sizes }: SegmentWriter,
): Generator<SegmentContent> {
  // Invariant: a record that is in no segment has its encoded document.
  yield* cutSegments(deletes, records, ({ body }) => body as Body, sizes);
  for (const part of parts) yield* cutPart(part, sizes);
}

/** Segments in storage that are not live. Unless a backup references them, they are garbage. */
export class Orphans {
  readonly numbers = new Set<number>();
  readonly #live: LiveSegments;

  constructor(live: LiveSegments) {
    this.#live = live;
  }

  /**
   * To be called with segments that may be none any more, as no backup references them; live ones
   * among them are none.
   */
  add(numbers: Iterable<number>): void {
    for (const number of numbers) if (!this.#live.states.has(number)) this.numbers.add(number);
  }

  forget(numbers: Iterable<number>): void {
    for (const number of numbers) this.numbers.delete(number);
  }
}

/**
 * Undoes failed writes that may be stored nevertheless. The undo goes with the next write, ahead of
 * its operations.
 */
export class UndoLog {
  /**
   * By failed write. The logs that shared a write share its undo: the first that writes undoes all
   * of it, for all.
   */
  #writes: StorageOperation[][] = [];

  /** Whether a failed write may have been stored. */
  get inDoubt(): boolean {
    return this.#writes.some(({ length }) => length > 0);
  }

  /** @param operations Emptied once they are stored. */
  add(operations: StorageOperation[]): void {
    this.#writes.push(operations);
  }

  /** The undo, then these operations; {@link clear} must follow once they are stored. */
  *before(...operations: readonly Iterable<StorageOperation>[]): Generator<StorageOperation> {
    yield* this.#writes.flat();
    yield* joined(operations);
  }

  clear(): void {
    for (const undone of this.#writes) undone.length = 0;
    this.#writes = [];
  }
}

/** A put, and what takes it back. */
export interface UndoablePut {
  readonly put: StoragePut;
  readonly undo: StorageOperation;
}
