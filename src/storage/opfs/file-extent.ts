import type { StorageKey, StorageOperation } from '../drivers/driver.ts';

/** The key in `leadership` of IndexedDB under which it notes how long the file of a database is at least. */
export const EXTENT_KEY: StorageKey = ['extent'];

/**
 * How much of a file must be there, whatever ends the browser. A file grows, and a compaction makes one of a higher generation: an older copy is
 * shorter, or of a lower one.
 */
export interface FileExtent {
  readonly generation: number;
  /** Bytes that were flushed: what follows may rightly be lost in a power cut. */
  readonly length: number;
}

export function noteExtent(value: FileExtent): StorageOperation {
  return { type: 'put', store: 'leadership', key: EXTENT_KEY, value };
}

export const forgetExtent: StorageOperation = {
  ...{ type: 'delete', store: 'leadership', key: EXTENT_KEY },
};

/**
 * What a file lacks of what was noted, as a clause; `undefined` for nothing.
 *
 * @param end Offset behind its last whole write.
 */
export function missingIn(generation: number, end: number, noted: unknown): string | undefined {
  const { generation: newest = 0, length = 0 } = (noted ?? {}) as Partial<FileExtent>;
  if (generation < newest)
    return 'an older copy is in its place, or an empty file, so newer data is lost';
  if (generation > newest || end >= length) return undefined;
  return `it was cut, or an older copy is in its place: bytes ${end} to ${length} are lost`;
}
