import {
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
import type { DocumentIndexes } from '../documents/document-indexes.ts';
import type { IndexSlot } from '../documents/index-slot.ts';
import type { RecordStore } from '../records/record-store.ts';

/** Pages that one write puts: about 2 MB, so that saves never wait long for it. */
const AT_ONCE = 40;

/** A checkpoint that is ready to be written. */
export interface BuiltCheckpoint {
  readonly checkpoint: Checkpoint;
  /** To be written one after another. The pages do not count before the last one is stored. */
  readonly writes: readonly (readonly StorageOperation[])[];
}

/** The records and indexes of a collection at a moment when all of them are saved. */
interface Saved {
  readonly records: RecordStore;
  readonly indexes: DocumentIndexes;
}

/**
 * Builds a checkpoint of what is in memory, slice by slice. Nothing may change from the first slice to the last.
 *
 * @param before The generation of the stored checkpoint, 0 for none.
 * @returns `undefined` where slots cannot address all records.
 */
export function* buildCheckpoint(
  { records, indexes }: Saved,
  before: number,
): Generator<void, BuiltCheckpoint | undefined> {
  const { name, segments } = records.log;
  const generation = before + 1;
  const numbers = Float64Array.from(segments.keys());
  const offsets = new Map(Array.from(numbers, (number, offset) => [number, offset]));
  const slotOf = (segment: number, index: number): number =>
    (offsets.get(segment) as number) * ROWS + index;
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
  const hashes = new HashPages(records.size);
  yield* records.table.places((key, segment, index) => hashes.add(key, slotOf(segment, index)));
  put(HASHES, hashes.pages());
  yield;
  const directories: Record<string, IndexDirectory> = {};
  for (const slot of indexes.all) {
    if (slot.phase !== 'ready') continue;
    const pages = yield* pagesOf(slot, slotOf);
    const part = Object.keys(directories).length + 1;
    const unkeyed = [...slot.index.unkeyed.values()];
    directories[slot.column] = pages.finish(
      part,
      unkeyed.map(({ segment, index }) => slotOf(segment, index)),
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

function* pagesOf(
  { index }: IndexSlot,
  slotOf: (segment: number, index: number) => number,
): Generator<void, IndexPages> {
  const pages = new IndexPages((a, b) => index.isSame(a, b));
  for (const { keys, entries } of index.leaves()) {
    for (const [at, key] of keys.entries()) {
      const { segment, index: row } = entries[at] as (typeof entries)[number];
      pages.add(key, slotOf(segment, row));
    }
    yield;
  }
  return pages;
}
