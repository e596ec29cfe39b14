/**
 * Bytes of the longest line: twice a document of MongoDB; binary data has lines of its own. Parsing needs thirty
 * times a hostile line: 64 MB of `{},{},…` take 2.2 GB of heap in Chromium, 256 MB crash the page.
 */
export const MAX_LINE = 32 * 2 ** 20;

/** Bytes of binary data of one record: without a bound a small file could ask for all memory. */
export const MAX_BINARY = 2 * 2 ** 30;

/** Bytes of binary data on one line. A multiple of three, so that only the last line has padding. */
export const BINARY_LINE = 768 * 1024;

/** Least bytes for one step of a stream: steps cost microseconds, and memory grows with their size. */
export const CHUNK = 128 * 1024;

/** Characters encoded to UTF-8 at once: what fits into the first cache takes little more than half the time. */
export const TEXT = 16 * 1024;
