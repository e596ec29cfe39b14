import type { Body } from '../../codec/body.ts';

/** Times in Unix milliseconds: created, updated, archived, unarchived; 0 for none. */
export type Stamps = readonly [
  created: number,
  updated: number,
  archived: number,
  unarchived: number,
];

/**
 * One version of a record. An update makes a new version; the content of a version never changes,
 * only its segment and index do.
 *
 * A class, so that all versions have the same hidden class: a collection may hold a million.
 * docs/decisions/003-insertion-rank.md has the reason for ranks.
 */
export class StoredRecord {
  readonly key: string;
  /**
   * Rank by time of insertion. Updates and compaction keep it; it orders every scan. Set once, on
   * insertion.
   */
  rank: number;
  /** Bits of the managed values; 0 in key-value collections. */
  readonly flags: number;
  readonly stamps: Stamps | undefined;
  /**
   * The encoded document, while it is in memory. Invariant: set while the version is in no segment.
   */
  body: Body | undefined;
  /** The decoded value, which cached collections keep after the first decoding. */
  value: unknown = undefined;
  /** The frozen document that callers in this thread share, once one has read it. */
  shared: object | undefined = undefined;
  /**
   * The key in each index, by the offset of the index; shorter while newer indexes are being built.
   */
  indexKeys: readonly unknown[] | undefined = undefined;
  /** Number of its segment, 0 for none. */
  segment = 0;
  /** Index in its segment. */
  index = 0;
  /** Its share of the size of its segment. */
  size = 0;
  /**
   * The server's version that it equals, behind the tag of its replica; `undefined` where it has
   * changed since.
   */
  remoteVersion: string | undefined = undefined;
  /** The version before this one, while it is the latest saved version. */
  previous: StoredRecord | undefined = undefined;

  constructor(
    key: string,
    rank: number,
    flags: number,
    stamps: Stamps | undefined,
    body: Body | undefined,
  ) {
    this.key = key;
    this.rank = rank;
    this.flags = flags;
    this.stamps = stamps;
    this.body = body;
  }
}

/** The latest saved version of a record, given its latest version. */
export function savedVersion(record: StoredRecord | undefined): StoredRecord | undefined {
  let version = record;
  while (version && version.segment === 0) version = version.previous;
  return version;
}

/** Indexes in {@link Stamps}, by setting. */
export const STAMPS = [
  { setting: 'created', place: 0 },
  { setting: 'updated', place: 1 },
  { setting: 'archived', place: 2 },
  { setting: 'unarchived', place: 3 },
] as const;

/**
 * Fields of documents that Cairn manages. Values that a caller gives for them are ignored; records
 * store them beside the encoded document.
 */
export const MANAGED_FIELDS: ReadonlySet<string> = new Set([
  '_id',
  '_updated',
  '_archived',
  ...STAMPS.flatMap(({ setting }) => [`_${setting}_at`, `_${setting}_timestamp`]),
]);

/** Whether a dotted path leads to a managed field. */
export function isManaged(path: string): boolean {
  return MANAGED_FIELDS.has(path.split('.', 1)[0] as string);
}
