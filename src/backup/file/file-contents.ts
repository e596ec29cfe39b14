import type { Body } from '../../codec/body.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

/** A record of a file. */
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
  /** @see {@link writeFile} */
  write(parts: AsyncIterable<FilePart>): FileOutput<Uint8Array<ArrayBuffer>>;
  /** @see {@link readFile} */
  read(bytes: AsyncIterable<Uint8Array>): FileOutput<FilePart>;
}
