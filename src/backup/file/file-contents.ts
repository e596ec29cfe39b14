import { version } from '../../../package.json';
import type { Body } from '../../codec/body.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

export interface FileRecord {
  readonly key: string;
  /** Insertion rank, 1 or more. */
  readonly order: number;
  /** Bits of the managed fields, 0 to 3. */
  readonly flags: number;
  readonly stamps: Stamps | undefined;
  readonly body: Body;
}

/** The collection of one section of a file. */
export interface FileHeader {
  /** Name of the collection. */
  readonly collection: string;
  readonly type: 'DOCUMENT_BASED' | 'KEY_VALUE_BASED';
  /** Instant of the snapshot, in Unix milliseconds. */
  readonly created_at: number;
  readonly label?: string | undefined;
  /** Options of the collection: values within JSON. */
  readonly options: Readonly<Record<string, unknown>>;
  /** How many records follow. */
  readonly documents: number;
}

/** The content of a file in order: for each collection a header, its records in batches, an end. */
export type FilePart =
  | { readonly kind: 'header'; readonly header: FileHeader }
  | { readonly kind: 'records'; readonly records: readonly FileRecord[] }
  /** When read from a file: counts and checksum of the collection were right. */
  | { readonly kind: 'end'; readonly documents: number };

/** The output of a codec, piece by piece. */
export interface FileOutput<T> {
  next(): Promise<IteratorResult<T, void>>;
  /** Ends it early, and its input. */
  return(): Promise<unknown>;
}

/** Writes and reads the files of backups, in this thread or in a worker. */
export interface FileCodec {
  write(parts: AsyncIterable<FilePart>): FileOutput<Uint8Array<ArrayBuffer>>;
  read(bytes: AsyncIterable<Uint8Array>): FileOutput<FilePart>;
}

export const FILE_FORMAT = 'cairn-backup';

/** The format of new files. A change that older readers would not understand increases it. */
export const FORMAT_NUMBER = 1;

/** The first fields of every header and of the last line, in this format and all later ones. */
export const FORMAT_FIELDS = {
  format: FILE_FORMAT,
  format_number: FORMAT_NUMBER,
  version,
} as const;

/**
 * Bytes of the longest line: twice a document of MongoDB; binary data has lines of its own. Parsing
 * needs thirty times a hostile line: 64 MB of `{},{},…` take 2.2 GB of heap in Chromium, 256 MB
 * crash the page.
 */
export const MAX_LINE = 32 * 2 ** 20;

/** Bytes of binary data of one record: without a bound a small file could ask for all memory. */
export const MAX_BINARY = 2 * 2 ** 30;

/**
 * Bytes of binary data on one line. A multiple of three, so that only the last line has padding.
 */
export const BINARY_LINE = 768 * 1024;

/**
 * Least bytes for one step of a stream: steps cost microseconds, and memory grows with their size.
 */
export const CHUNK = 128 * 1024;

/**
 * Characters encoded to UTF-8 at once: what fits into the first cache takes little more than half
 * the time.
 */
export const TEXT = 16 * 1024;

/** The version of the documents in a section of a file, as the option `version`. */
export function versionIn({ options }: FileHeader): number {
  const { version } = options;
  return Number.isSafeInteger(version) ? Math.max(version as number, 1) : 1;
}

/** The header of the same documents, migrated. */
export function withVersion(header: FileHeader, version: number): FileHeader {
  return { ...header, options: { ...header.options, version } };
}
