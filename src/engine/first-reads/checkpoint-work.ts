import { run } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import { asCairnError } from '../../errors/errors.ts';
import {
  type BytesPage,
  type Checkpoint,
  directoryKey,
  HASHES,
  type IndexDirectory,
  noCheckpoint,
  pageKey,
  ROWS,
} from '../../storage/checkpoint/checkpoint-format.ts';
import { HashPages, IndexPages, noPages } from '../../storage/checkpoint/checkpoint-pages.ts';
import {
  fitting,
  makeWarmSet,
  mayBeWarm,
  putWarmSet,
} from '../../storage/checkpoint/make-warm-set.ts';
import { WarmSet } from '../../storage/checkpoint/warm-set.ts';
import type { StorageOperation } from '../../storage/drivers/driver.ts';
import { seal } from '../../storage/integrity/seal.ts';
import { type StoredRecord, savedVersion } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { DocumentIndex, SlotOf } from '../documents/document-index.ts';
import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { RecordStore } from '../records/record-store.ts';

/** The checkpoint in storage. */
export type StoredCheckpoint = Pick<Checkpoint, 'generation' | 'segments' | 'indexes'>;

/** How long a collection rests before its checkpoint is written. */
const REST_MS = 2000;

/**
 * The same after a bulk insert: a page may end soon, and the next one would read all of it for its
 * first answer.
 */
const SHORT_REST_MS = 250;

/** So many segments that no checkpoint covers, and half of all, are a bulk insert: about 12 MB. */
const MANY = 500;

/** How long a collection that never rests goes without. */
const AT_LATEST_MS = 30_000;

/** The share of bytes that may be uncovered. Each page is written again once per so much growth. */
const SHARE = 1 / 8;

/** What is known of the checkpoint of a collection, and when nothing more is written. */
export interface CheckpointState {
  /** `undefined` where there is none, or one may be there in part. */
  stored: StoredCheckpoint | undefined;
  /** Whether what is stored beside it may be gone. */
  wasRemoved: boolean;
  readonly isStopped: boolean;
  /** Whether the collection is worth a checkpoint. */
  readonly isLarge: boolean;
  /** Bytes of segments that no checkpoint covers, below which none is written. */
  readonly least: number;
  /** Starts the wait for a rest, unless nothing more is written. */
  schedule(): void;
}

/**
 * Writes the checkpoint of a collection, and its warm set, where they are due: when the collection
 * rests, after a while of changes, or when the database is closed. Changes may go on meanwhile.
 */
export class CheckpointWork {
  readonly #context: CollectionContext;
  readonly #state: CheckpointState;
  readonly #warm: WarmSetWriter;
  #cancel: (() => void) | undefined;
  /** Since when a rest is waited for. */
  #waitingSince: number | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(context: CollectionContext, state: CheckpointState) {
    this.#context = context;
    this.#state = state;
    this.#warm = new WarmSetWriter(context);
    context.recent.noted = () => {
      if (!this.#cancel) state.schedule();
    };
  }

  /** Starts the wait for a rest, anew. */
  schedule(): void {
    const { clock } = this.#context;
    const now = clock.elapsed();
    this.#waitingSince ??= now;
    const left = this.#waitingSince + AT_LATEST_MS - now;
    // One that is overdue fires, however fast saves follow one another.
    if (this.#cancel && left <= 0) return;
    this.#cancel?.();
    const rest = this.#isBulk ? SHORT_REST_MS : REST_MS;
    this.#cancel = clock.after(Math.min(rest, Math.max(0, left)), () => this.#start(), true);
  }

  /** Writes what waits for a rest. Resolves when nothing is being written. */
  finish(): Promise<void> {
    if (this.#cancel) {
      this.#cancel();
      this.#start();
    }
    return this.#writing;
  }

  /** Resolves when nothing is being written. */
  stop(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    return this.#writing;
  }

  get #isBulk(): boolean {
    const covered = this.#state.stored?.segments.length ?? 0;
    return this.#context.records.log.segments.size - covered > Math.max(MANY, covered);
  }

  #start(): void {
    this.#cancel = this.#waitingSince = undefined;
    this.#writing = this.#writing
      .then(() => this.#writeDue())
      .catch((cause: unknown) => this.#context.events.failed(asCairnError(cause)));
  }

  get #isDue(): boolean {
    const { records, indexes } = this.#context;
    const { least } = this.#state;
    // As first reads answer: not for values, nor where documents expire.
    const { type, expire_after } = this.#context.settings;
    if (type !== 'DOCUMENT_BASED' || expire_after) return false;
    const covered = new Set(this.#state.stored?.segments);
    let size = 0;
    let uncovered = 0;
    for (const { number, bytes } of records.log.segments.values()) {
      size += bytes;
      if (!covered.has(number)) uncovered += bytes;
    }
    const known = this.#state.stored?.indexes ?? {};
    const isNew = keptIn(indexes).some(({ phase, column }) => phase === 'ready' && !known[column]);
    return isNew || uncovered > Math.max(least, size * SHARE);
  }

  async #writeDue(): Promise<void> {
    if (this.#state.isStopped) return;
    if (this.#state.wasRemoved) this.#warm.removed();
    this.#state.wasRemoved = false;
    const { indexes, availability } = this.#context;
    /** Not when a swap of the manifest, or a drop, has come in between. */
    const isValid = (): boolean =>
      !this.#state.isStopped && !availability.error && this.#context.indexes === indexes;
    if (!this.#state.isLarge) return this.#remove(isValid);
    const isDue = this.#isDue;
    if (isDue && !this.#state.stored) await this.#warm.keep();
    if (isDue) await this.#write(isValid);
    await this.#writeWarmSet(isValid, isDue);
  }

  /** Of a collection that has become small: it has copies of documents that are deleted. */
  async #remove(isValid: () => boolean): Promise<void> {
    const removal = noCheckpoint(this.#context.settings.name);
    if (!this.#state.stored || !(await this.#put([removal], isValid))) return;
    this.#state.stored = undefined;
    this.#warm.removed();
  }

  async #writeWarmSet(isValid: () => boolean, isRenewed: boolean): Promise<void> {
    if (!this.#state.stored || !isValid()) return;
    const warm = await this.#warm.next(new Set(this.#state.stored.segments), isRenewed);
    if (warm && (await this.#put([putWarmSet(warm, this.#context.settings.name)], isValid)))
      this.#warm.stored(warm);
  }

  async #write(isValid: () => boolean): Promise<void> {
    const built = await this.#build(isValid);
    if (!built || !(await this.#areSaved())) return;
    // A write that fails may be stored: then the next checkpoint begins with the removal of all
    // pages.
    this.#state.stored = undefined;
    for (const operations of built.writes) if (!(await this.#put(operations, isValid))) return;
    this.#state.stored = built.checkpoint;
  }

  /** @returns whether it was still valid. */
  #put(operations: readonly StorageOperation[], isValid: () => boolean): Promise<boolean> {
    const { saves, records } = this.#context;
    return saves.alone(async () => {
      if (!isValid()) return false;
      await records.log.write(operations);
      return true;
    });
  }

  async #build(isValid: () => boolean): Promise<BuiltCheckpoint | undefined> {
    const { records, indexes } = this.#context;
    // Compaction would move records.
    const release = records.pin();
    try {
      const building = buildCheckpoint({ records, indexes }, this.#state.stored?.generation ?? 0);
      while (isValid()) {
        const { done, value } = building.next();
        if (done) return value;
        await nextTurn();
      }
      return undefined;
    } finally {
      release();
    }
  }

  /** Saves the changes that the checkpoint leaves to newer segments. */
  async #areSaved(): Promise<boolean> {
    const { records, saves } = this.#context;
    if (records.unsaved === 0) return true;
    // The save reports its failure.
    return saves.flush().then(
      () => true,
      () => false,
    );
  }
}

/** The share of its documents that must be new before it is written again. */
const NEW_SHARE = 1 / 4;

/** Documents that are read at once: each may lie in a segment of its own, about 100 kB. */
const AT_ONCE = 16;

/**
 * Chooses the documents of the warm set: those that this visit has read first, then those of
 * earlier ones.
 */
export class WarmSetWriter {
  readonly #context: Pick<CollectionContext, 'records' | 'recent' | 'storage' | 'settings'>;
  /** The newest one, once it was looked for. */
  #newest: WarmSet | undefined;
  /** Whether that is still in storage. */
  #isStored = true;
  /** The keys of what earlier visits read first. */
  #earlier: readonly string[] = [];
  /** The keys of documents that cannot be copied. */
  readonly #refused = new Set<string>();

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /**
   * Must be called before the checkpoint is removed, with all that belongs to it: the next one has
   * the same documents.
   */
  async keep(): Promise<void> {
    await this.#read();
    this.removed();
  }

  /** Must be called when the checkpoint was removed, or is damaged: what is stored may be gone. */
  removed(): void {
    this.#isStored = false;
  }

  /**
   * Makes the next one, if one is due. Documents that are gone are due at once: the user may have
   * wanted that.
   *
   * @param covered The segments of the checkpoint: newer ones are read with the first answer
   *   anyway.
   * @param isRenewed Whether it is a new checkpoint, so that records may have moved.
   */
  async next(covered: ReadonlySet<number>, isRenewed: boolean): Promise<WarmSet | undefined> {
    const { records, storage } = this.#context;
    const before = await this.#read();
    const isDue = (chosen: readonly StoredRecord[]) => this.#isDue(chosen, before, isRenewed);
    const release = records.pin();
    try {
      const chosen = [...fitting(this.#candidates(covered), storage)];
      if (!isDue(chosen)) return undefined;
      const { copied, bodies } = await this.#copy(chosen, before);
      return isDue(copied) ? makeWarmSet(copied, bodies) : undefined;
    } finally {
      release();
    }
  }

  #isDue(chosen: readonly StoredRecord[], before: WarmSet, isRenewed: boolean): boolean {
    const { length } = before.value.keys;
    const missing = chosen.filter((record) => bodyIn(before, record) === undefined).length;
    const left = length + missing - chosen.length;
    if (!this.#isStored) return chosen.length > 0;
    if (isRenewed) return missing + left > 0;
    const { records } = this.#context;
    return (
      missing > length * NEW_SHARE ||
      (left > 0 && before.value.keys.some((key) => !records.table.get(key)))
    );
  }

  /** Must be called once it is stored. */
  stored(warm: WarmSet): void {
    this.#newest = warm;
    this.#isStored = true;
  }

  async #read(): Promise<WarmSet> {
    if (!this.#newest) {
      const { storage, settings } = this.#context;
      const newest = await WarmSet.read(storage, settings.name);
      this.#newest = newest ?? makeWarmSet([], []);
      this.#earlier = this.#newest.value.keys;
    }
    return this.#newest;
  }

  *#candidates(covered: ReadonlySet<number>): Generator<StoredRecord> {
    const { records, recent } = this.#context;
    for (const key of new Set([...recent.keys, ...this.#earlier])) {
      const record = savedVersion(records.table.get(key));
      if (record && covered.has(record.segment) && !this.#refused.has(key)) yield record;
    }
  }

  /**
   * Copies records, but for those whose document cannot be read: the read that wants it reports
   * that.
   */
  async #copy(chosen: readonly StoredRecord[], before: WarmSet) {
    const { records } = this.#context;
    const read = async (record: StoredRecord) =>
      bodyIn(before, record) ?? (await run(records.bodies.of(record)));
    const copied: StoredRecord[] = [];
    const bodies: Body[] = [];
    for (let from = 0; from < chosen.length; from += AT_ONCE) {
      const some = chosen.slice(from, from + AT_ONCE);
      const found = await Promise.allSettled(some.map(read));
      for (const [at, one] of found.entries()) {
        const record = some[at] as StoredRecord;
        if (one.status === 'rejected' || !mayBeWarm(one.value)) this.#refused.add(record.key);
        else {
          copied.push(record);
          bodies.push(one.value);
        }
      }
      await nextTurn();
    }
    return { copied, bodies };
  }
}

/** The body of this version; `undefined` where it is not there. */
function bodyIn(warm: WarmSet, { segment, index }: StoredRecord): Body | undefined {
  return warm.record(segment, index)?.body;
}

/** Entries of an index that one slice takes: a few milliseconds. */
const SLICE = 8192;

/** Pages that one write puts: about 2 MB, so that saves never wait long for it. */
const PAGES_AT_ONCE = 40;

/** Bytes of a page of an index without an order. */
const BYTES = 48 * 1024;

/** A checkpoint that is ready to be written. */
interface BuiltCheckpoint {
  readonly checkpoint: Checkpoint;
  /** To be written one after another. The pages do not count before the last one is stored. */
  readonly writes: readonly (readonly StorageOperation[])[];
}

/** The records and indexes of a collection. */
interface Content {
  readonly records: RecordStore;
  readonly indexes: DocumentIndexes;
}

/**
 * Builds a checkpoint of what is in memory, slice by slice. It covers the segments that are live at
 * the first slice.
 *
 * Records may change meanwhile. A version that is in none of these segments is left out: it will be
 * in a newer one, which wins. So the directory must not be stored before all changes up to the last
 * slice are.
 *
 * @param before The generation of the stored checkpoint, 0 for none.
 * @returns `undefined` where slots cannot address all records.
 */
function* buildCheckpoint(
  { records, indexes }: Content,
  before: number,
): Generator<void, BuiltCheckpoint | undefined> {
  const { name, segments } = records.log;
  const generation = before + 1;
  const numbers = Float64Array.from(segments.keys());
  const offsets = new Map(Array.from(numbers, (number, offset) => [number, offset]));
  const slotOf: SlotOf = (segment, index) => {
    const offset = offsets.get(segment);
    return offset === undefined ? undefined : offset * ROWS + index;
  };
  if (numbers.length > ROWS) return undefined;
  // What there is of a damaged one goes.
  const outdated = before === 0 ? noCheckpoint(name) : noPages(name, generation);
  const writes: StorageOperation[][] = [[outdated]];
  const put = (part: number, pages: readonly object[]): void => {
    for (const [page, value] of pages.entries()) {
      if ((writes.at(-1) as StorageOperation[]).length >= PAGES_AT_ONCE) writes.push([]);
      const key = pageKey(name, { generation }, part, page);
      writes.at(-1)?.push({ type: 'put', store: 'bodies', key, value: seal(key, value) });
    }
  };
  const hashes = new HashPages(records.table.size);
  yield* records.table.places((key, segment, index) => {
    const slot = slotOf(segment, index);
    if (slot !== undefined) hashes.add(key, slot);
  });
  put(HASHES, hashes.pages());
  yield;
  const directories: Record<string, IndexDirectory> = {};
  for (const slot of keptIn(indexes)) {
    // One that was dropped meanwhile has lost records.
    if (slot.phase !== 'ready' || !indexes.all.includes(slot)) continue;
    // Indexes that differ in what counts when they are asked have one column.
    if (directories[slot.column]) continue;
    const part = Object.keys(directories).length + 1;
    if (slot.toBytes) {
      const bytes = yield* slot.toBytes(slotOf);
      const pages = bytes && Array.from(cut(bytes));
      if (!pages) continue;
      const counts = Uint32Array.from(pages, ({ bytes: { length } }) => length);
      directories[slot.column] = { part, firsts: [], counts, unkeyed: 0 };
      put(part, pages);
      continue;
    }
    const pages = yield* pagesOf(slot, slotOf);
    const unkeyed = Array.from(slot.unkeyed.values(), (one) => slotOf(one.segment, one.index));
    directories[slot.column] = pages.finish(
      part,
      unkeyed.filter((found) => found !== undefined),
    );
    put(part, pages.pages);
  }
  const checkpoint = { generation, segments: numbers, bits: hashes.bits, indexes: directories };
  const key = directoryKey(name);
  writes.push([
    { type: 'put', store: 'bodies', key, value: seal(key, checkpoint) },
    noPages(name, before),
  ]);
  return { checkpoint, writes };
}

/** The indexes that a checkpoint has. */
function keptIn(indexes: DocumentIndexes): readonly DocumentIndex[] {
  return indexes.all.filter(({ definition, toBytes }) => toBytes || !definition.special);
}

function* cut(bytes: Uint8Array): Generator<BytesPage> {
  for (let from = 0; from < bytes.length; from += BYTES)
    yield { bytes: bytes.slice(from, from + BYTES) };
}

function* pagesOf(index: DocumentIndex, slotOf: SlotOf): Generator<void, IndexPages> {
  const pages = new IndexPages((a, b) => index.isSame(a, b));
  let left = SLICE;
  for (const { keys, entries } of index.batches()) {
    for (const [at, key] of keys.entries()) {
      const { segment, index: row } = entries[at] as (typeof entries)[number];
      const slot = slotOf(segment, row);
      if (slot !== undefined) pages.add(key, slot);
    }
    left -= keys.length;
    if (left > 0) continue;
    left = SLICE;
    yield;
  }
  return pages;
}
