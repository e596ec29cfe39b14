import type { StorageKey, StorageOperation } from '../drivers/driver.ts';

/**
 * Where the records of a collection are, as of one moment: pages that can be read one by one, and
 * their directory. With it the first reads after an opening need not wait until all segments are
 * read.
 *
 * A *slot* is a row of a covered segment: the offset of the segment among them, times {@link ROWS},
 * plus the row.
 *
 * Invariant: of each key that the covered segments hold, the pages have the newest version alone.
 * Whatever was saved or compacted later is in segments with higher numbers, which win; a slot in a
 * segment that is no longer live does not count. A swap of the manifest may bring old segments
 * back, so it removes the checkpoint.
 */
export interface Checkpoint {
  /** Of its pages. */
  readonly generation: number;
  /** The numbers of the covered segments, in ascending order. */
  readonly segments: Float64Array;
  /** Records are in pages by the first bits of the hash of their key: so many bits. */
  readonly bits: number;
  /** By the name of its column. */
  readonly indexes: Readonly<Record<string, IndexDirectory>>;
}

/** The pages of an index. */
export interface IndexDirectory {
  /** Names its pages. */
  readonly part: number;
  /** The first key of each page; none where pages are bytes. */
  readonly firsts: readonly unknown[];
  /** The number of entries, or bytes, in each page. */
  readonly counts: Uint32Array;
  /** The number of records without a key, which are in a page behind the others. */
  readonly unkeyed: number;
}

/** Records by the hash of their key; in no order. */
export interface HashPage {
  readonly hashes: Uint32Array;
  readonly slots: Uint32Array;
}

/** Entries of an index in the order of their keys. */
export interface IndexPage {
  /** Distinct keys. */
  readonly keys: readonly unknown[];
  /** Of each key, where its slots end. */
  readonly ends: Uint32Array;
  readonly slots: Uint32Array;
}

/** Some bytes of an index without an order. */
export interface BytesPage {
  readonly bytes: Uint8Array;
}

/** The part of the pages by hash; indexes have 1, 2, … */
export const HASHES = 0;

/** More rows than a segment ever has: each takes more than 10 of its 96 kB. */
export const ROWS = 2 ** 16;

const PLACE = 'checkpoint';

/** Pages lie beside the bodies of segments, whose keys are numbers. */
export function directoryKey(collection: string): StorageKey {
  return [collection, PLACE];
}

/** Of a value beside the directory, which goes with all pages. */
export function checkpointKey(collection: string, name: string | number): StorageKey {
  return [collection, PLACE, name];
}

export function pageKey(
  collection: string,
  { generation }: Pick<Checkpoint, 'generation'>,
  part: number,
  page: number,
): StorageKey {
  return [collection, PLACE, generation, part, page];
}

/** Removes the directory, all pages and the warm set. */
export function noCheckpoint(collection: string): StorageOperation {
  return { type: 'deletePrefix', store: 'bodies', prefix: [collection, PLACE] };
}
