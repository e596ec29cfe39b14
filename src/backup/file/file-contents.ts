import type { Body } from '../../codec/body.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';

/** A record as it stands in a file. */
export interface FileRecord {
  readonly key: string;
  /** Rank by time of insertion, 1 or more. */
  readonly order: number;
  /** Bits of the managed values, 0 to 3. */
  readonly flags: number;
  readonly stamps: Stamps | undefined;
  readonly body: Body;
}

/** What a file says of a collection before its records. */
export interface FileHeader {
  /** Its name. */
  readonly collection: string;
  readonly type: 'DOCUMENT_BASED' | 'KEY_VALUE_BASED';
  /** The instant of which the records are, in Unix milliseconds. */
  readonly created_at: number;
  readonly label?: string | undefined;
  /** How the collection was set up: values that JSON keeps. */
  readonly options: Readonly<Record<string, unknown>>;
  /** How many records follow. */
  readonly documents: number;
}

/** One collection in a file. */
export interface FileSection {
  readonly header: FileHeader;
  /** In batches of any size, each with a body. */
  readonly records: AsyncIterable<readonly FileRecord[]>;
}

/** What reading a file gives: for each collection its header, its records, and its end. */
export type FilePart =
  | { readonly kind: 'header'; readonly header: FileHeader }
  | { readonly kind: 'records'; readonly records: readonly FileRecord[] }
  /** The counts and the checksum of the collection were right. */
  | { readonly kind: 'end'; readonly documents: number };
