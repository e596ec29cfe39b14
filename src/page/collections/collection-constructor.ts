import type { AnyDocument, Shared, Stamp, StampFields } from '../../api/document-types.ts';
import type {
  CollectionOptions,
  DocumentCollectionOptions,
  KeyValueCollectionOptions,
  RelationOptions,
  StampOptions,
} from '../../api/options/collection-options.ts';
import type { AnyRelations, Related } from '../../api/relation-types.ts';
import type {
  Repeatable,
  SchemaInput,
  SchemaOutput,
  StandardSchema,
} from '../../api/standard-schema.ts';
import type { DocumentCollection } from './document-collection.ts';
import type { KeyValueCollection } from './key-value-collection.ts';

/**
 * Makes a collection, or opens it if it exists. A client has it as `db.Collection`.
 *
 * Documents have the stamps whose options are `true`: there is one signature for each set of
 * stamps, and TypeScript picks the first that fits. An option of type `boolean`, known only at run
 * time, makes every stamp optional. docs/decisions/010-types.md has the reasons.
 */
export interface CollectionConstructor
  extends WithSchema,
    Created<never>,
    Created<'_created_at'>,
    Created<Shared>,
    Created<Shared | '_created_at'>,
    KeyValues,
    RunTimeStamps,
    Either {}

/** Everything is inferred from the options; an option that is left out takes its default. */
interface WithSchema
  extends SchemaOf<{ relations?: undefined }, never>,
    SchemaOf<{ relations: RelationOptions }, Related<AnyRelations>> {
  new <O extends StandardSchema>(
    options: Omit<KeyValueCollectionOptions, 'schema'> & { schema: O & Repeatable<O> },
  ): KeyValueCollection<SchemaOutput<O>>;
}

interface SchemaOf<Relating extends object, R extends Stamp> {
  new <
    O extends StandardSchema<object, object>,
    CA extends Flag = false,
    CT extends Flag = false,
    UA extends Flag = false,
    UT extends Flag = false,
    EA extends Flag = false,
    ET extends Flag = false,
    AA extends Flag = false,
    AT extends Flag = false,
    NA extends Flag = false,
    NT extends Flag = false,
    SH extends Flag = false,
  >(
    options: Omit<Unstamped, 'relations'> &
      Relating & {
        schema: O & Repeatable<O>;
        indicate_created_at?: CA;
        indicate_created_timestamp?: CT;
        indicate_updated_at?: UA;
        indicate_updated_timestamp?: UT;
        indicate_edited_at?: EA;
        indicate_edited_timestamp?: ET;
        indicate_archived_at?: AA;
        indicate_archived_timestamp?: AT;
        indicate_unarchived_at?: NA;
        indicate_unarchived_timestamp?: NT;
        shared_documents?: SH;
      },
  ): DocumentCollection<
    SchemaOutput<O>,
    | If<CA, '_created_at'>
    | If<CT, '_created_timestamp'>
    | If<UA | EA, '_updated_at'>
    | If<UT | ET, '_updated_timestamp'>
    | If<AA, '_archived_at'>
    | If<AT, '_archived_timestamp'>
    | If<NA, '_unarchived_at'>
    | If<NT, '_unarchived_timestamp'>
    | ([SH] extends [true] ? Shared : never)
    | R,
    SchemaInput<O>
  >;
}

type Flag = boolean | undefined;

/** A stamp whose option is on; a dynamic one where that is known only at run time. */
type If<F extends Flag, S extends keyof StampFields> = [F] extends [true]
  ? S
  : true extends F
    ? `${S}?`
    : never;

interface KeyValues {
  new <V = unknown>(options: KeyValueCollectionOptions): KeyValueCollection<V>;
}

/** Documents with the stamps `S` and no others. */
interface Documents<S extends Stamp> {
  new <T extends object = AnyDocument>(
    options: OptionsFor<S> & Unchecked & { relations?: undefined },
  ): DocumentCollection<T, S>;
  new <T extends object = AnyDocument, R extends object = AnyRelations>(
    options: OptionsFor<S> & Unchecked & { relations: RelationOptions },
  ): DocumentCollection<T, S | Related<R>>;
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
  new <T extends object = AnyDocument, O extends StandardSchema = StandardSchema>(
    options: DocumentCollectionOptions & MayHaveSchema<O>,
  ): DocumentCollection<T, `${keyof StampFields}?`>;
}

/** The compiler explains mistakes with the last signature. */
interface Either {
  new <T extends object = AnyDocument, O extends StandardSchema = StandardSchema>(
    options: CollectionOptions & MayHaveSchema<O>,
  ): DocumentCollection<T, `${keyof StampFields}?`> | KeyValueCollection<T>;
}

type OptionsFor<S extends Stamp> = FlagsFor<S> & Unstamped & SharedFor<S>;

interface SharedFor<S extends Stamp> {
  shared_documents?: (Shared extends S ? true : false) | undefined;
}

type FlagsFor<S extends Stamp> = {
  [Option in keyof StampOptions]: (StampOf<Option> extends S ? true : false) | undefined;
};

type Unstamped = Omit<DocumentCollectionOptions, keyof StampOptions | Shared | 'schema'>;

/** Refuses a schema that is not repeatable, instead of forgetting its types. */
interface MayHaveSchema<O extends StandardSchema> {
  schema?: (O & Repeatable<O>) | undefined;
}

/** A schema decides the types, so that these are for collections without. */
interface Unchecked {
  schema?: undefined;
}

type StampOf<Option extends keyof StampOptions> = Option extends `indicate_edited_${infer Form}`
  ? `_updated_${Form}`
  : Option extends `indicate_${infer Name}`
    ? `_${Name}`
    : never;
