import type { BaseCollectionConfig, CollectionConfig } from '@tanstack/db';
import type {
  AnyDocument,
  IdOf,
  ManagedFields,
  OwnFields,
  Stamp,
  Stored,
} from '../api/document-types.ts';
import { OptionError } from '../errors/errors.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import { REPLICATION } from '../page/collections/replication-access.ts';
import type { Criteria } from '../query/criteria/criteria-types.ts';
import { type RowSource, type SyncParams, SyncRun } from './sync-run.ts';
import { sources, writeMutations } from './write-mutations.ts';

export { writeMutations } from './write-mutations.ts';

/** A row is a document. Give a new one its `_id`; other managed fields come when it is stored. */
export type Row<T extends object, S extends Stamp = never> = OwnFields<T> & {
  readonly _id: IdOf<T>;
} & Partial<Omit<ManagedFields<S>, '_id'>>;

/** What `collection.utils` has. */
export interface CairnUtils<T extends object, S extends Stamp = never> {
  /** The collection of Cairn. */
  readonly collection: DocumentCollection<T, S, object>;
}

/** Options of {@link cairnCollectionOptions}: its own, and those of any collection. */
export interface CairnCollectionConfig<T extends object, S extends Stamp = never>
  extends Omit<
    BaseCollectionConfig<Row<T, S>, string, never, CairnUtils<T, S>>,
    'getKey' | 'schema' | 'onInsert' | 'onUpdate' | 'onDelete' | 'utils'
  > {
  /** The documents. Their `_id` is the key of a row. */
  readonly collection: DocumentCollection<T, S, object>;
  /** Which documents are rows. @default all */
  readonly criteria?: Criteria<Stored<T, S>> | undefined;
  /**
   * `false`: only documents that are not archived. `true`: both kinds. `'only'`: archived ones.
   * @default false
   */
  readonly archived?: boolean | 'only' | undefined;
}

/** What `createCollection()` takes. */
export type CairnCollectionOptions<T extends object, S extends Stamp = never> = CollectionConfig<
  Row<T, S>,
  string,
  never,
  CairnUtils<T, S>
> & { schema?: never; utils: CairnUtils<T, S> };

/**
 * Options of a collection of TanStack DB whose rows are the documents of a collection of Cairn:
 * live queries and joins of TanStack DB, with Cairn's storage, tabs and backups under them.
 *
 * An insert, update or delete is a transaction of Cairn; the optimistic row stays until the stored
 * one takes its place. With `syncMode: 'on-demand'` a query loads what it shows: its `where`,
 * `orderBy` and `limit` become criteria, which use Cairn's indexes.
 *
 * @throws {OptionError} `option_invalid`
 *
 * @example
 * ```ts
 * const todos = createCollection(cairnCollectionOptions({ collection: documents }));
 * todos.insert({ _id: crypto.randomUUID(), text: 'Buy milk' });
 * ```
 */
export function cairnCollectionOptions<T extends object, S extends Stamp = never>(
  config: CairnCollectionConfig<T, S>,
): CairnCollectionOptions<T, S> {
  const { collection, criteria, archived, ...rest } = config;
  if (!collection?.[REPLICATION] || collection.type !== 'DOCUMENT_BASED')
    throw new OptionError(
      'option_invalid',
      'cairnCollectionOptions() takes a collection of documents of Cairn.',
      { place: 'collection' },
    );
  const source: RowSource = {
    collection: collection as unknown as DocumentCollection<AnyDocument>,
    criteria: { ...criteria },
    archived,
    runs: new Set(),
  };
  const utils = { collection };
  sources.set(utils, source);
  return {
    id: collection.name,
    ...rest,
    getKey: ({ _id }) => _id,
    sync: {
      rowUpdateMode: 'full',
      sync: (params) => start(source, params as unknown as SyncParams, rest.syncMode),
    },
    onInsert: writeMutations,
    onUpdate: writeMutations,
    onDelete: writeMutations,
    utils,
  };
}

function start(source: RowSource, params: SyncParams, mode: 'eager' | 'on-demand' | undefined) {
  const run = new SyncRun(source, params);
  const { load, unload, end: cleanup } = run;
  if (mode === 'on-demand') {
    params.markReady();
    return { cleanup, loadSubset: load, unloadSubset: unload };
  }
  load({}).then(params.markReady, params.markError);
  return { cleanup };
}
