import { toBase64 } from '../../codec/exact-json/base64.ts';
import {
  type Binary,
  type ExactJson,
  encodeExact,
  notText,
  TooLong,
} from '../../codec/exact-json/exact-encoding.ts';
import { StorageError } from '../../errors/errors.ts';
import { Crc32 } from './crc32.ts';
import {
  BINARY_LINE,
  type FileHeader,
  type FilePart,
  type FileRecord,
  FORMAT_FIELDS,
  MAX_BINARY,
  MAX_LINE,
  TEXT,
} from './file-contents.ts';
import { binaryTooLarge, lineTooLong } from './file-errors.ts';
import { gzip } from './gzip.ts';

/** UTF-8 takes at most three bytes for each UTF-16 code unit. */
const NEVER_TOO_LONG = MAX_LINE / 3;

const encoder = new TextEncoder();

/** Writes the lines of one collection, encoded in pieces of about {@link TEXT}. */
class SectionWriter {
  readonly #header: FileHeader;
  readonly #checksum = new Crc32();
  #documents = 0;
  /** Lines that are not encoded yet. */
  #text: string;

  constructor(header: FileHeader) {
    const { collection, type, created_at, label, options, documents } = header;
    this.#header = header;
    this.#text = `${JSON.stringify({ ...FORMAT_FIELDS, collection, type, created_at, label, options, documents })}\n`;
  }

  /** @throws {BackupError} `record_too_large`, naming the document. */
  async *write(records: readonly FileRecord[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (const record of records) {
      const { body } = record;
      if (typeof body === 'string') {
        // Already JSON: copied, never parsed.
        this.#text += this.#recordLine(record, 'body', body);
      } else {
        const { json, binaries } = this.#exactJson(body.exact, record);
        for await (const line of binaryLines(binaries, this.#placeOf(record))) {
          this.#text += line;
          if (this.#text.length >= TEXT) yield this.#encodeText();
        }
        this.#text += this.#recordLine(record, 'exact', json);
      }
      if (this.#text.length >= TEXT) yield this.#encodeText();
    }
    this.#documents += records.length;
  }

  /** @throws {StorageError} `data_damaged` */
  *end(): Generator<Uint8Array<ArrayBuffer>> {
    const { documents } = this.#header;
    if (this.#documents !== documents) throw miscounted(this.#header, this.#documents);
    yield this.#encodeText();
    yield encodeLine({ end: true, documents, crc32: this.#checksum.digest() });
  }

  #encodeText(): Uint8Array<ArrayBuffer> {
    const bytes = encoder.encode(this.#text);
    this.#text = '';
    this.#checksum.update(bytes);
    return bytes;
  }

  #recordLine(record: FileRecord, field: 'body' | 'exact', json: string): string {
    const { key, order, flags, stamps } = record;
    if (json.length > MAX_LINE) throw lineTooLong(this.#placeOf(record));
    const times = stamps ? `,"stamps":[${stamps.join()}]` : '';
    const line = `{"key":${JSON.stringify(key)},"order":${order},"flags":${flags}${times},"${field}":${json}}\n`;
    if (line.length > NEVER_TOO_LONG && encoder.encode(line).length > MAX_LINE) {
      throw lineTooLong(this.#placeOf(record));
    }
    return line;
  }

  #exactJson(value: unknown, record: FileRecord): ExactJson {
    try {
      return encodeExact(value, MAX_LINE);
    } catch (error) {
      throw error instanceof TooLong ? lineTooLong(this.#placeOf(record)) : error;
    }
  }

  #placeOf({ key }: FileRecord): string {
    return `"${key}" of the collection "${this.#header.collection}"`;
  }
}

function encodeLine(line: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${JSON.stringify(line)}\n`);
}

function miscounted({ collection, documents }: FileHeader, found: number): StorageError {
  const message =
    `The collection "${collection}" should have ${documents} documents to export, and ${found} were found. ` +
    'Its data is damaged: restore a backup.';
  return new StorageError('data_damaged', message, { place: collection });
}

/**
 * The lines with the binary data of a record, written before it. Read in pieces: a Blob may be
 * larger than memory.
 *
 * @param place The record, for errors.
 */
async function* binaryLines(binaries: readonly Binary[], place: string): AsyncGenerator<string> {
  let room = MAX_BINARY;
  for (const binary of binaries) {
    if (!(sizeOf(binary) >= 0)) throw notText(binary, place);
    room -= sizeOf(binary);
  }
  if (room < 0) throw binaryTooLarge(place);
  for (const [index, binary] of binaries.entries()) {
    const kind = binary instanceof Uint8Array ? 'buffer' : 'blob';
    let at = 0;
    // Empty binaries have a line too.
    do {
      const piece =
        binary instanceof Uint8Array
          ? binary.subarray(at, at + BINARY_LINE)
          : await readPiece(binary, at, place);
      yield `{"${kind}":${index},"base64":"${toBase64(piece)}"}\n`;
      at += BINARY_LINE;
    } while (at < sizeOf(binary));
  }
}

function sizeOf(binary: Binary): number {
  return binary instanceof Uint8Array ? binary.length : binary.size;
}

async function readPiece(blob: Blob, at: number, place: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.slice(at, at + BINARY_LINE).arrayBuffer());
  } catch (cause) {
    const message = `A Blob of ${place} cannot be read (${cause}). Replace the Blob, and export again.`;
    throw new StorageError('storage_failed', message, { place, cause });
  }
}

/**
 * Writes collections to a file: gzip of one line of JSON for each record
 * (docs/decisions/015-backup-files.md). The generator is lazy, and ending it early ends `parts`.
 * Browsers compress within one turn of the event loop: `parts` must let other work in.
 *
 * @returns chunks of at least 64 kB, except for the last.
 * @throws {BackupError} `record_too_large`, `file_unsupported`.
 * @throws {StorageError} `data_damaged` when a collection has fewer or more records than its header
 *   says.
 */
export function writeFile(
  parts: AsyncIterable<FilePart>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  return gzip(fileBytes(parts));
}

async function* fileBytes(parts: AsyncIterable<FilePart>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let section: SectionWriter | undefined;
  let sections = 0;
  for await (const part of parts) {
    if (part.kind === 'header') {
      section = new SectionWriter(part.header);
      sections++;
    } else if (!section) throw new TypeError(`A file cannot begin with ${part.kind}.`);
    else if (part.kind === 'records') yield* section.write(part.records);
    else yield* section.end();
  }
  // The last line detects a file truncated between two sections.
  yield encodeLine({ ...FORMAT_FIELDS, sections });
}
