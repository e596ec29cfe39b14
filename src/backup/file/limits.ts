/**
 * Bytes of the longest line: twice what a document may take in MongoDB, and binary data stands on lines of
 * its own. Reading needs some thirty times a hostile line: 64 MB of `{},{},…` take 2.2 GB of heap in Chromium,
 * 256 MB end the page.
 */
export const MAX_LINE = 32 * 2 ** 20;

/** Bytes of binary data that one record may hold: without a bound a small file could ask for all memory. */
export const MAX_BINARY = 2 * 2 ** 30;

/** Bytes of binary data on one line. A multiple of three, so that only the last piece has padding. */
export const PIECE = 768 * 1024;

/** Bytes that are worth a step of a stream: steps cost microseconds, and memory grows with their size. */
export const CHUNK = 128 * 1024;

/** Characters that are turned into bytes at once: what fits into the first cache takes little more than half the time. */
export const TEXT = 16 * 1024;

/** Characters of the longest name that a collection can be constructed with. */
export const MAX_NAME = 128;
