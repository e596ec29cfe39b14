import type { Body } from '../../codec/body.ts';

/** Instants in Unix milliseconds: created, updated, archived, unarchived; 0 where there is none. */
export type Stamps = readonly [
  created: number,
  updated: number,
  archived: number,
  unarchived: number,
];

/**
 * One version of a record. An update makes a new version; what a version says never changes. Only where
 * it rests does: in memory alone, then in a segment, later in another one.
 *
 * A class, so that all versions share one shape: a collection holds a hundred thousand of them.
 */
export class StoredRecord {
  readonly key: string;
  /** Rank by time of insertion. It stays through updates and compaction, and orders every scan. Set once, on entry. */
  rank: number;
  /** Bits of the managed values; 0 in key-value collections. */
  readonly flags: number;
  readonly stamps: Stamps | undefined;
  /** The encoded value, while it is resident. Always there while the version is in no segment. */
  body: Body | undefined;
  /** The decoded value, kept by cached collections once something has looked inside. */
  value: unknown = undefined;
  /** The key of each index of the collection, by the offset of the index; shorter while newer indexes are being built. */
  indexKeys: readonly unknown[] | undefined = undefined;
  /** Number of the segment that holds this version, 0 while none does. */
  segment = 0;
  /** Place inside the segment. */
  index = 0;
  /** What it adds to the size of its segment. */
  size = 0;
  /** The version before this one, for as long as it is the newest that storage holds. */
  previous: StoredRecord | undefined = undefined;

  constructor(
    key: string,
    order: number,
    flags: number,
    stamps: Stamps | undefined,
    body: Body | undefined,
  ) {
    this.key = key;
    this.rank = order;
    this.flags = flags;
    this.stamps = stamps;
    this.body = body;
  }
}

/** The newest version of the record that storage holds, seen from its newest version of all. */
export function savedVersion(record: StoredRecord | undefined): StoredRecord | undefined {
  let version = record;
  while (version && version.segment === 0) version = version.previous;
  return version;
}
