import type { NewDocument } from 'cairndb';

/** Where documents come from. */
export interface Source {
  /** The collection that they go to. */
  readonly collection: string;
  /** What people call it. */
  readonly title: string;
  /** How many there will be, if that is known before. */
  readonly total: number | undefined;
  /** The documents, batch by batch. */
  readonly batches: () => AsyncIterable<readonly NewDocument[]>;
}
