import type { AnyDocument, Stamp, Stored } from '../document-types.ts';

/** A value that differs between two versions of a document. */
export interface FieldChange {
  /** Dotted path, such as `'address.city'`; `''` for a whole value. */
  readonly path: string;
  /** Left out where the field was missing. */
  readonly before?: unknown;
  /** Left out where the field is gone. */
  readonly after?: unknown;
}

/** What `diff` says of something that only one side has, or that differs. */
type Change<D> =
  | { readonly type: 'added'; readonly id: string; readonly after: D }
  | { readonly type: 'removed'; readonly id: string; readonly before: D }
  | {
      readonly type: 'changed';
      readonly id: string;
      readonly before: D;
      readonly after: D;
      /** The differences, managed fields included. */
      readonly changes: readonly FieldChange[];
    };

/** A document that was added, changed or removed. */
export type DocumentChange<T extends object = AnyDocument, S extends Stamp = never> = Change<
  Stored<T, S>
>;

/** A record of a key-value collection that was added, changed or removed; `id` is its key. */
export type ValueChange<V = unknown> = Change<V>;
