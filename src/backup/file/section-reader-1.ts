import type { Body } from '../../codec/body.ts';
import { encode } from '../../codec/capture.ts';
import { fromBase64 } from '../../codec/exact-json/base64.ts';
import { type BinarySource, decodeExact } from '../../codec/exact-json/exact-decoding.ts';
import {
  asArray,
  asInteger,
  asObject,
  asString,
  type JsonObject,
  onlyFields,
} from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { Malformed } from '../../errors/errors.ts';
import { MAX_NAME_LENGTH } from '../../storage/collection-name.ts';
import { MANAGED_FIELDS, type Stamps } from '../../storage/segments/stored-record.ts';
import { Crc32 } from './crc32.ts';
import {
  BINARY_LINE,
  type FileHeader,
  type FileRecord,
  MAX_BINARY,
  MAX_LINE,
} from './file-contents.ts';
import { binaryTooLarge } from './file-errors.ts';
import { joinBytes } from './gzip.ts';

const HEADER = new Set([
  'format',
  'format_number',
  'version',
  'collection',
  'type',
  'created_at',
  'label',
  'options',
  'documents',
]);
const RECORD = new Set(['key', 'order', 'flags', 'stamps', 'body', 'exact']);
const END = new Set(['end', 'documents', 'crc32']);
const MOST_FLAGS = 3;

/** Reads sections of format 1: docs/decisions/015-backup-files.md */
export class SectionReader1 implements SectionReader {
  readonly header: FileHeader;
  readonly checksum = new Crc32();
  readonly #binaries = new BinaryReader();
  #documents = 0;
  #end: JsonObject = {};

  constructor(header: JsonObject) {
    this.header = readHeader(header);
  }

  read(line: JsonObject, number: number): FileRecord | 'end' | undefined {
    if ('key' in line) {
      this.#documents++;
      return this.#readRecord(line);
    }
    if ('base64' in line) {
      this.#binaries.add(line, `line ${number}`);
      return undefined;
    }
    if (line.end !== true) throw new Malformed('it is no record');
    onlyFields(line, END);
    this.#end = line;
    this.#binaries.finish();
    return 'end';
  }

  verify(): void {
    const { documents, crc32 } = this.#end;
    const counts = new Set([documents, this.header.documents, this.#documents]);
    if (counts.size > 1)
      throw new Malformed(`records are missing or too many: ${[...counts].join(', ')}`);
    if (crc32 !== this.checksum.digest()) throw new Malformed('the checksum is wrong');
  }

  #readRecord(line: JsonObject): FileRecord {
    onlyFields(line, RECORD);
    const key = asString(line.key, '"key"');
    if (key === '') throw new Malformed('"key" is empty');
    // No path reaches it in a key-value collection. Ids of documents may be any string.
    if (key === '__proto__' && this.header.type === 'KEY_VALUE_BASED')
      throw new Malformed('"key" is __proto__');
    const order = asInteger(line.order, '"order"', 1);
    const flags = asInteger(line.flags, '"flags"', 0);
    if (flags > MOST_FLAGS) throw new Malformed('"flags" are over 3');
    const stamps = 'stamps' in line ? readStamps(line.stamps) : undefined;
    const body = this.#readBody(line);
    this.#binaries.finish();
    return { key, order, flags, stamps, body };
  }

  #readBody(line: JsonObject): Body {
    if ('body' in line === 'exact' in line) throw new Malformed('it has no value, or two values');
    // JSON values as well are checked and encoded anew: files are not trusted.
    const value = 'body' in line ? line.body : decodeExact(line.exact, this.#binaries);
    if (this.header.type === 'DOCUMENT_BASED') checkDocument(value);
    return encode(value, 'body');
  }
}

function checkDocument(value: unknown): void {
  if (!isPlainObject(value)) throw new Malformed('its value is no document');
  for (const field of Object.keys(value)) {
    if (field[0] === '_' && MANAGED_FIELDS.has(field)) {
      throw new Malformed(`its document has the managed field "${field}"`);
    }
  }
}

function readHeader(line: JsonObject): FileHeader {
  onlyFields(line, HEADER);
  const { type, created_at, label } = line;
  const collection = asString(line.collection, '"collection"');
  if (collection === '') throw new Malformed('"collection" is empty');
  if (collection.length > MAX_NAME_LENGTH)
    throw new Malformed('"collection" is too long for a name');
  if (type !== 'DOCUMENT_BASED' && type !== 'KEY_VALUE_BASED')
    throw new Malformed('"type" is unknown');
  if (!isInstant(created_at)) throw new Malformed('"created_at" is not a valid time');
  const options = asObject(line.options, '"options"');
  encode(options, 'options'); // throws for values that are not allowed
  return {
    collection,
    type,
    created_at,
    ...(label === undefined ? {} : { label: asString(label, '"label"') }),
    options,
    documents: asInteger(line.documents, '"documents"', 0),
  };
}

function readStamps(value: unknown): Stamps {
  const stamps = asArray(value, '"stamps"');
  if (stamps.length !== 4 || !stamps.every(isInstant))
    throw new Malformed('"stamps" are not four times');
  return stamps as unknown as Stamps;
}

function isInstant(value: unknown): value is number {
  return Number.isFinite(value) && (value as number) >= 0;
}

/** Reads the lines of one section. Errors other than Cairn's count as damage of the line. */
export interface SectionReader {
  readonly header: FileHeader;
  /** Covers all lines before the section's last one. */
  readonly checksum: Crc32;
  /**
   * @param number Of the line in the file, for errors.
   * @returns the record, `'end'` for the section's last line, or nothing for binary data of a later
   *   record.
   */
  read(line: JsonObject, number: number): FileRecord | 'end' | undefined;
  /** Compares counts and checksum, after the last line. */
  verify(): void;
}

/** Constructed with a header whose format and version were checked. */
export type SectionFormat = new (header: JsonObject) => SectionReader;

type Bytes = Uint8Array<ArrayBuffer>;

/** Most binaries that the line of a record has room to refer to. */
const MOST = MAX_LINE / 32;

const FIELDS = { blob: new Set(['blob', 'base64']), buffer: new Set(['buffer', 'base64']) };

interface Binary {
  readonly kind: 'blob' | 'buffer';
  readonly parts: (Bytes | Blob)[];
  /** Whether its next line may continue it. */
  open: boolean;
  taken: boolean;
}

/** Collects the lines of binary data before a record, for decoding the record. */
class BinaryReader implements BinarySource {
  #all: Binary[] = [];
  #size = 0;

  /**
   * @param place The line, for errors.
   * @throws {Malformed}
   * @throws {BackupError} `record_too_large`.
   */
  add(line: JsonObject, place: string): void {
    const kind = 'blob' in line ? 'blob' : 'buffer';
    onlyFields(line, FIELDS[kind]);
    const bytes = fromBase64(asString(line.base64, 'the content'));
    this.#size += bytes.length;
    if (this.#size > MAX_BINARY || this.#all.length > MOST) throw binaryTooLarge(place);
    const binary = this.#at(line[kind], kind);
    binary.open = bytes.length === BINARY_LINE;
    // Blobs are kept outside of the heap, large ones on disk.
    binary.parts.push(kind === 'blob' && binary.open ? new Blob([bytes]) : bytes);
  }

  takeBytes(index: unknown): Bytes {
    const parts = this.#take(index, 'buffer') as Bytes[];
    return joinBytes(
      parts,
      parts.reduce((size, part) => size + part.length, 0),
    );
  }

  takeParts(index: unknown): BlobPart[] {
    return this.#take(index, 'blob');
  }

  /** Call it after each record. @throws {Malformed} if the record did not take all. */
  finish(): void {
    if (this.#all.length === 0) return;
    if (!this.#all.every(({ taken }) => taken))
      throw new Malformed('binary data belongs to nothing');
    this.#all = [];
    this.#size = 0;
  }

  #at(index: unknown, kind: Binary['kind']): Binary {
    const last = this.#all.at(-1);
    if (index === this.#all.length - 1 && last?.open && last.kind === kind) return last;
    if (index !== this.#all.length) throw new Malformed('binary data is out of order');
    const binary: Binary = { kind, parts: [], open: false, taken: false };
    this.#all.push(binary);
    return binary;
  }

  #take(index: unknown, kind: Binary['kind']): Binary['parts'] {
    const binary = this.#all[index as number];
    if (binary?.kind !== kind || binary.taken) throw new Malformed('there is no such binary data');
    binary.taken = true;
    return binary.parts;
  }
}
