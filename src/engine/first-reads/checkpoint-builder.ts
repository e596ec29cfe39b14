import {
  type BytesPage,
  type Checkpoint,
  directoryKey,
  HASHES,
  type IndexDirectory,
  noCheckpoint,
  noPages,
  pageKey,
  ROWS,
} from '../../storage/checkpoint/checkpoint-format.ts';
import { HashPages, IndexPages } from '../../storage/checkpoint/checkpoint-pages.ts';
import type { StorageOperation } from '../../storage/drivers/driver.ts';
import { seal } from '../../storage/integrity/seal.ts';
import type { DocumentIndex, SlotOf } from '../documents/document-index.ts';
import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { RecordStore } from '../records/record-store.ts';

/** Entries of an index that one slice takes: a few milliseconds. */
const SLICE = 8192;

/** Pages that one write puts: about 2 MB, so that saves never wait long for it. */
const AT_ONCE = 40;

/** Bytes of a page of an index without an order. */
const BYTES = 48 * 1024;

/** A checkpoint that is ready to be written. */
export interface BuiltCheckpoint {
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
export function* buildCheckpoint(
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
      if ((writes.at(-1) as StorageOperation[]).length >= AT_ONCE) writes.push([]);
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
export function keptIn(indexes: DocumentIndexes): readonly DocumentIndex[] {
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
