import type { DocumentCollection } from './document-collection.ts';
import type { AnyDocument, Stamp, StampFields } from './document-types.ts';
import type { KeyValueCollection } from './key-value-collection.ts';
import type {
  CollectionOptions,
  DocumentCollectionOptions,
  KeyValueCollectionOptions,
  StampOptions,
} from './options/collection-options.ts';

/**
 * Makes a collection, or opens it if it exists. A client has it as `db.Collection`.
 *
 * Documents have the stamps whose options are `true`: there is one signature for each set of stamps, and TypeScript
 * picks the first that fits. An option of type `boolean`, known only at run time, makes every stamp optional.
 * docs/decisions/010-types.md has the reasons.
 */
export interface CollectionConstructor
  extends Created<never>,
    Created<'_created_at'>,
    KeyValues,
    RunTimeStamps,
    Either {}

interface KeyValues {
  new <V = unknown>(options: KeyValueCollectionOptions): KeyValueCollection<V>;
}

/** Documents with the stamps `S` and no others. */
interface Documents<S extends Stamp> {
  new <T extends object = AnyDocument>(options: OptionsFor<S>): DocumentCollection<T, S>;
}

// Each level doubles the signatures: without its stamp, then with it.
interface Created<S extends Stamp> extends Updated<S>, Updated<S | '_created_timestamp'> {}
interface Updated<S extends Stamp> extends UpdatedTime<S>, UpdatedTime<S | '_updated_at'> {}
interface UpdatedTime<S extends Stamp> extends Archived<S>, Archived<S | '_updated_timestamp'> {}
interface Archived<S extends Stamp> extends ArchivedTime<S>, ArchivedTime<S | '_archived_at'> {}
interface ArchivedTime<S extends Stamp>
  extends Unarchived<S>,
    Unarchived<S | '_archived_timestamp'> {}
interface Unarchived<S extends Stamp>
  extends UnarchivedTime<S>,
    UnarchivedTime<S | '_unarchived_at'> {}
interface UnarchivedTime<S extends Stamp>
  extends Documents<S>,
    Documents<S | '_unarchived_timestamp'> {}

interface RunTimeStamps {
  new <T extends object = AnyDocument>(
    options: DocumentCollectionOptions,
  ): DocumentCollection<T, `${keyof StampFields}?`>;
}

/** The compiler explains mistakes with the last signature. */
interface Either {
  new <T extends object = AnyDocument>(
    options: CollectionOptions,
  ): DocumentCollection<T, `${keyof StampFields}?`> | KeyValueCollection<T>;
}

type OptionsFor<S extends Stamp> = FlagsFor<S> & Unstamped;

type FlagsFor<S extends Stamp> = {
  [Option in keyof StampOptions]: (StampOf<Option> extends S ? true : false) | undefined;
};

type Unstamped = Omit<DocumentCollectionOptions, keyof StampOptions>;

type StampOf<Option extends keyof StampOptions> = Option extends `indicate_edited_${infer Form}`
  ? `_updated_${Form}`
  : Option extends `indicate_${infer Name}`
    ? `_${Name}`
    : never;
