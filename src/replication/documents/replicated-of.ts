import type { KeyValueCollection } from '../../collection/key-value-collection.ts';

/**
 * What a collection replicates: the documents of a document collection, with their managed fields; of keys and values
 * `{ _id: key, value }`.
 */
export type ReplicatedOf<C> = C extends { insert(document: never): Promise<infer D extends object> }
  ? D
  : C extends KeyValueCollection<infer V>
    ? { readonly _id: string; readonly value: V }
    : object;
