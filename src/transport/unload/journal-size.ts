import type { Request } from '../../engine/protocol/requests.ts';

/** Characters of an unload journal at most: browsers give an origin five million, which the app needs too. */
export const JOURNAL_ROOM = 1024 * 1024;

/** Characters of a journaled change beside its request. */
const OVERHEAD = 80;

/**
 * An upper bound of the characters that a change takes in the unload journal; infinite for a Blob, which cannot be
 * read synchronously.
 */
export function journalSize(request: Request): number {
  return OVERHEAD + sizeOf(request);
}

function sizeOf(value: unknown): number {
  // JSON in a string: each quote and backslash is escaped once more.
  if (typeof value === 'string') return 2 * value.length + 2;
  if (typeof value === 'bigint') return 32 + value.toString(16).length;
  if (typeof value === 'number') return 24;
  if (typeof value !== 'object' || value === null) return 20;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return 64 + 2 * value.byteLength;
  if (typeof Blob !== 'undefined' && value instanceof Blob) return Number.POSITIVE_INFINITY;
  let size = 32;
  if (value instanceof Map) {
    for (const [key, item] of value) size += sizeOf(key) + sizeOf(item);
  } else if (value instanceof Set) {
    for (const item of value) size += sizeOf(item);
  } else if (value instanceof RegExp) {
    size += 2 * value.source.length;
  } else {
    // Own keys only: the length of a sparse array may be four billion.
    for (const key of Object.keys(value))
      size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
  }
  return size;
}
