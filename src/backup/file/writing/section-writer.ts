import { type ExactJson, encodeExact, TooLong } from '../../../codec/exact-json/exact-encoding.ts';
import { StorageError } from '../../../errors/storage-error.ts';
import { Crc32 } from '../crc32.ts';
import type { FileHeader, FileRecord } from '../file-contents.ts';
import { lineTooLong } from '../file-errors.ts';
import { FORMAT_FIELDS } from '../format-fields.ts';
import { MAX_LINE, TEXT } from '../limits.ts';
import { binaryLines } from './binary-lines.ts';

/** UTF-8 takes at most three bytes for each UTF-16 code unit. */
const NEVER_TOO_LONG = MAX_LINE / 3;

const encoder = new TextEncoder();

/** Writes the lines of one collection, encoded in pieces of about {@link TEXT}. */
export class SectionWriter {
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

export function encodeLine(line: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${JSON.stringify(line)}\n`);
}

function miscounted({ collection, documents }: FileHeader, found: number): StorageError {
  const message =
    `The collection "${collection}" should have ${documents} documents to export, and ${found} were found. ` +
    'Its data is damaged: restore a backup.';
  return new StorageError('data_damaged', message, { place: collection });
}
