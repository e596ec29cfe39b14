import { gunzip, joinBytes } from '../../backup/file/gzip.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Bytes of a part: the mean of many, and the least and most before compression. Only a longer line
 * exceeds the last.
 */
const MEAN = 256 * 1024;
const LEAST = 64 * 1024;
const MOST = 1024 * 1024;

/**
 * Bytes of a line that its hash is made of: they have its key and rank, which no other line of the
 * collection has.
 */
const HASHED = 512;

const LINE_FEED = 10;

/** The offset of FNV-1a. */
const START = 0x811c9dc5;

/**
 * The third byte of `{"format…` and of `{"end…`; those of records and binary data begin otherwise.
 */
const FRAMING = new Set([...'fe'].map((letter) => letter.charCodeAt(0)));

/** A header or end of a section as text, or a part with records. */
export type CutPiece = { readonly text: string } | { readonly part: Bytes };

/**
 * Cuts the lines of a backup file into parts, at lines that their own content chooses. So lines
 * that are added, changed or moved change the parts around them, and all other parts stay the same:
 * content-defined chunking, by lines. docs/decisions/044-backup-targets.md has the figures.
 */
export class PartCutter {
  /** The pieces of the current part, complete lines, then those of an unfinished line. */
  #pieces: Bytes[] = [];
  #size = 0;
  /** The unfinished line: bytes so far, their hash, its third byte. */
  #length = 0;
  #hash = START;
  #third = 0;

  *push(bytes: Bytes): Generator<CutPiece> {
    let from = 0;
    for (let at = 0; at < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, at);
      const end = feed < 0 ? bytes.length : feed + 1;
      this.#note(bytes, at, end);
      at = end;
      if (feed < 0) break;
      const length = this.#length;
      if (FRAMING.has(this.#third)) {
        const line = this.#takeLine(bytes, from, end, length);
        from = end;
        yield* line;
      } else if (this.#endsPart(this.#size + end - from, length)) {
        this.#keep(bytes.subarray(from, end));
        from = end;
        yield* this.#cut();
      }
      this.#startLine();
    }
    this.#keep(bytes.subarray(from));
  }

  /** The rest, after the last bytes. */
  *end(): Generator<CutPiece> {
    yield* this.#cut();
  }

  /** A framing line ends the part before it. */
  *#takeLine(bytes: Bytes, from: number, end: number, length: number): Generator<CutPiece> {
    this.#keep(bytes.subarray(from, end));
    const all = joinBytes(this.#pieces, this.#size);
    this.#reset();
    const before = all.subarray(0, all.length - length);
    if (before.length > 0) yield { part: before };
    yield { text: new TextDecoder().decode(all.subarray(before.length)) };
  }

  *#cut(): Generator<CutPiece> {
    if (this.#size === 0) return;
    const part = joinBytes(this.#pieces, this.#size);
    this.#reset();
    yield { part };
  }

  #endsPart(size: number, length: number): boolean {
    if (size < LEAST) return false;
    // In proportion to its length, so that the mean does not depend on the size of documents.
    return size >= MOST || mixed(this.#hash) < (length / MEAN) * 2 ** 32;
  }

  /** FNV-1a of the first bytes of a line. */
  #note(bytes: Bytes, from: number, end: number): void {
    const room = HASHED - this.#length;
    let hash = this.#hash;
    for (let at = from; at < Math.min(end, from + room); at++)
      hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    this.#hash = hash;
    const third = from + 2 - this.#length;
    if (third >= from && third < end) this.#third = bytes[third] as number;
    this.#length += end - from;
  }

  #startLine(): void {
    this.#length = 0;
    this.#hash = START;
    this.#third = 0;
  }

  #keep(bytes: Bytes): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#size += bytes.length;
  }

  #reset(): void {
    this.#pieces = [];
    this.#size = 0;
  }
}

/** Spreads a hash over all 32 bits: the finalizer of MurmurHash3. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * The pieces of an export. Ended early, it ends the export, which unpins its snapshot.
 *
 * @param file The stream of `exportAll()`.
 */
export async function* exportedPieces(
  file: ReadableStream<Uint8Array>,
): AsyncGenerator<CutPiece, void> {
  const cutter = new PartCutter();
  for await (const bytes of gunzip(bytesOf(file))) yield* cutter.push(bytes);
  yield* cutter.end();
}

/** Safari cannot iterate streams. */
async function* bytesOf(file: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = file.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // An export that has failed rejects this too.
    await reader.cancel().catch(() => undefined);
  }
}
