import type { NewDocument } from 'cairndb';

/** Where documents come from. */
export interface Source {
  /** The target collection. */
  readonly collection: string;
  /** Display name. */
  readonly title: string;
  /** Their number, if known in advance. */
  readonly total: number | undefined;
  /** The documents, batch by batch. */
  readonly batches: () => AsyncIterable<readonly NewDocument[]>;
}
