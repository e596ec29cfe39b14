import { Postings } from './postings.ts';

/** The slot of a row whose record is not covered: a newer segment has it, or none. */
export const NO_SLOT = 0xffff_ffff;

export interface StoredPostings {
  readonly postings: Postings;
  /** By row. */
  readonly ranks: Float64Array;
  /** Where the record of each row is; {@link NO_SLOT} for none. */
  readonly slots: Uint32Array;
}

/** Words have no such character, which sorts before all that they have. */
const BETWEEN = '\n';

/** Another one is read by no other version. */
const FORMAT = 2;

/** The format, rows, paths, words, bytes of words and of entries. */
const COUNTS = 6;

/** The largest items first, so that each begins at a multiple of its size. */
export function encodePostings({ postings, ranks, slots }: StoredPostings): Uint8Array {
  const { words, ends, documents, bytes, lengths, pathCount, size } = postings;
  const text = new TextEncoder().encode(words.join(BETWEEN));
  const sizes = [size, pathCount, words.length, text.length, bytes.length];
  const counts = Float64Array.of(FORMAT, ...sizes);
  const columns = [counts, ranks, slots, ends, documents, lengths, text, bytes];
  const encoded = new Uint8Array(columns.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of columns) {
    encoded.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return encoded;
}

/** @param encoded A buffer of its own, which is shared from then on. */
export function decodePostings({ buffer }: Uint8Array<ArrayBuffer>): StoredPostings | undefined {
  const counts = new Float64Array(buffer, 0, COUNTS);
  const [format, size = 0, pathCount = 1, wordCount = 0, textLength = 0, byteCount = 0] = counts;
  if (format !== FORMAT) return undefined;
  let at = counts.byteLength;
  const next = <T extends ArrayBufferView>(
    make: new (from: ArrayBuffer, at: number, length: number) => T,
    length: number,
  ): T => {
    const column = new make(buffer, at, length);
    at += column.byteLength;
    return column;
  };
  const ranks = next(Float64Array, size);
  const slots = next(Uint32Array, size);
  const ends = next(Uint32Array, wordCount);
  const documents = next(Uint32Array, wordCount * pathCount);
  const lengths = next(Uint16Array, size * pathCount);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(next(Uint8Array, textLength));
  const words = wordCount > 0 ? text.split(BETWEEN) : [];
  const bytes = next(Uint8Array, byteCount);
  const postings = new Postings({ words, ends, documents, bytes, lengths, pathCount });
  return { postings, ranks, slots };
}
