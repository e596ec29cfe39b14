/** Most rows of one push. */
export const MAX_ROWS = 1000;
/** Most changes of one pull. */
export const MAX_LIMIT = 1000;
/** Changes of one pull that names no limit. */
export const DEFAULT_LIMIT = 500;
/**
 * The type of a packed page: a line with the checkpoint, and behind it one change a line,
 * compressed. No `Content-Encoding`: a browser would hand all of the text from process to process,
 * at half the speed.
 */
export const PACKED_PAGE_TYPE = 'application/vnd.cairn.page';
/** UTF-8 bytes of the longest id: Postgres refuses keys of an index over 2,700 bytes. */
export const MAX_ID_BYTES = 1500;

/** Bytes of a part of a file: the most that is sent, and in memory, at once. */
export const PART_BYTES = 1024 * 1024;

/** Whether an id is longer than a server takes. */
export function isIdTooLong(id: string): boolean {
  if (id.length * 3 <= MAX_ID_BYTES) return false;
  return id.length > MAX_ID_BYTES || new TextEncoder().encode(id).length > MAX_ID_BYTES;
}
