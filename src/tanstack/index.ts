import type {
  BaseCollectionConfig,
  CollectionConfig,
  MutationFnParams,
  PendingMutation,
} from '@tanstack/db';
import type {
  AnyDocument,
  IdOf,
  ManagedFields,
  OwnFields,
  Stamp,
  Stored,
} from '../api/document-types.ts';
import type { TransactionOptions } from '../api/transaction-options.ts';
import { CollectionError, OptionError } from '../errors/errors.ts';
import type { DatabaseClient } from '../page/client/database-client.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import { REPLICATION, type ReplicationAccess } from '../page/collections/replication-access.ts';
import type { Transaction } from '../page/transactions/transaction-types.ts';
import type { Criteria } from '../query/criteria/criteria-types.ts';
import { jsonTextOf, type RowSource, type SyncParams, SyncRun } from './sync-run.ts';

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

type Mutation = Pick<
  PendingMutation<AnyDocument>,
  'type' | 'key' | 'globalKey' | 'original' | 'modified' | 'changes'
> & { readonly collection: { readonly id: string; readonly utils: object } };

interface Write {
  readonly mutation: Mutation;
  readonly source: RowSource;
}

/** By the `utils` of their options. */
const sources = new WeakMap<object, RowSource>();

/**
 * Writes the mutations of a transaction of TanStack DB, of any number of collections, in one
 * transaction of Cairn: all or none. It is the `mutationFn` of `createTransaction()`, and does the
 * work of that of `createOptimisticAction()`.
 *
 * @throws {OptionError} `option_invalid` for a collection that has no options of
 *   {@link cairnCollectionOptions}; {CollectionError} `document_missing` if an updated document was
 *   deleted meanwhile; {ValueError} `id_taken`, `unique_violation`, `schema_violation`. Nothing is
 *   written then, and TanStack DB takes the optimistic state back.
 *
 * @example
 * ```ts
 * const tx = createTransaction({ mutationFn: writeMutations });
 * tx.mutate(() => {
 *   orders.insert({ _id: 'o1', item: 'lamp' });
 *   stock.update('lamp', (draft) => { draft.left -= 1; });
 * });
 * await tx.isPersisted.promise;
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: mutations of collections of any type
export async function writeMutations({ transaction }: MutationFnParams<any>): Promise<void> {
  const writes = (transaction.mutations as readonly Mutation[]).map(
    (mutation): Write => ({
      mutation,
      source: sourceOf(mutation),
    }),
  );
  const [first] = writes;
  if (first) await WriteQueue.of(clientOf(first.source)).add(transaction, writes);
}

/** Before TanStack DB drops its optimistic rows, those that take their place are there. */
async function show(writes: readonly Write[]): Promise<void> {
  for (const { runs } of new Set(writes.map(({ source }) => source)))
    for (const run of runs) {
      run.flush();
      const behind = writes.filter(
        ({ source, mutation }) => source.runs === runs && !isShown(run, mutation),
      );
      if (behind.length > 0) await run.catchUp(behind.map(({ mutation }) => mutation.key));
    }
}

function isShown(run: SyncRun, { type, key, modified, changes }: Mutation): boolean {
  const row = run.rowOf(key) as AnyDocument | undefined;
  if (type === 'delete' || !row) return type === 'delete' && !row;
  const written = type === 'insert' ? modified : changes;
  return Object.keys(written).every(
    (field) => jsonTextOf(row[field]) === jsonTextOf(modified[field]),
  );
}

/** The writes of a transaction of TanStack DB, until they are made or refused. */
interface Waiting {
  readonly transaction: { readonly state: string };
  readonly writes: readonly Write[];
  /** Of its rows. */
  readonly keys: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes the writes of a page in the order in which it made them: one may need the rows of another,
 * and the last one counts. Those that wait for others become one transaction, as each transaction
 * is several requests. With one that is refused go those behind it that change one of its rows.
 */
class WriteQueue {
  readonly #client: DatabaseClient;
  #waiting: Waiting[] = [];

  static of(client: DatabaseClient): WriteQueue {
    const queue = queues.get(client) ?? new WriteQueue(client);
    queues.set(client, queue);
    return queue;
  }

  private constructor(client: DatabaseClient) {
    this.#client = client;
  }

  add(transaction: Waiting['transaction'], writes: readonly Write[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const keys = writes.map(({ mutation }) => mutation.globalKey);
      this.#waiting.push({ transaction, writes, keys, resolve, reject });
      // Else it runs: those that it writes wait, too.
      if (this.#waiting.length === 1) void this.#run();
    });
  }

  async #run(): Promise<void> {
    /** How many are made alone, as one of them was refused. */
    let alone = 0;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, alone > 0 ? 1 : undefined);
      alone = Math.max(0, alone - 1);
      try {
        await this.#write(batch);
        this.#waiting.splice(0, batch.length);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        if (batch.length > 1) alone = batch.length;
        else this.#refuse(batch, error);
      }
    }
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    let writes: Write[] = [];
    await this.#client.transaction(async (tx) => {
      // The app may have taken some back while they waited.
      writes = batch.flatMap((one) => (one.transaction.state === 'failed' ? [] : one.writes));
      for (const { source, mutation } of writes) await write(tx, source, mutation);
    }, PATIENT);
    // They are stored: rows that cannot be read now come with the live query.
    await show(writes).catch(() => undefined);
  }

  #refuse(batch: readonly Waiting[], error: unknown): void {
    const keys = new Set<string>();
    const refused = this.#waiting.filter((one) => {
      const isRefused = batch.includes(one) || one.keys.some((key) => keys.has(key));
      if (isRefused) for (const key of one.keys) keys.add(key);
      return isRefused;
    });
    this.#waiting = this.#waiting.filter((one) => !refused.includes(one));
    for (const { reject } of refused) reject(error);
  }
}

const queues = new WeakMap<DatabaseClient, WriteQueue>();

/** What a user did is not taken back because other tabs were quicker. */
const PATIENT: TransactionOptions = { retries: 1000 };

function sourceOf({ collection }: Mutation): RowSource {
  const source = sources.get(collection.utils);
  if (source) return source;
  const message = `writeMutations() cannot write to "${collection.id}": its options are not of cairnCollectionOptions(). Write its mutations apart.`;
  throw new OptionError('option_invalid', message, { place: collection.id });
}

/** The client of a collection, which makes its transactions. */
function clientOf({ collection }: RowSource): DatabaseClient {
  const { owner } = collection[REPLICATION] as ReplicationAccess;
  return owner as unknown as DatabaseClient;
}

async function write(tx: Transaction, source: RowSource, mutation: Mutation): Promise<void> {
  const documents = tx(source.collection);
  const { type, key, modified } = mutation;
  if (type === 'delete') await documents.delete(key);
  else if (type === 'insert') await documents.insert(modified);
  else if (!(await update(documents, mutation))) {
    const place = source.collection.name;
    const message = `Collection "${place}": the document "${key}" was deleted meanwhile, so it is not updated.`;
    throw new CollectionError('document_missing', message, { place });
  }
}

/** Changes the fields that differ alone: others keep what other tabs wrote. */
async function update(
  documents: Pick<RowSource['collection'], 'get' | 'patch' | 'update'>,
  { key, original, modified, changes }: Mutation,
): Promise<unknown> {
  const removed = Object.keys(original).filter((field) => !(field in modified));
  const changed = Object.entries(changes).filter(([field]) => field in modified);
  const fields = [...removed, ...changed.map(([field]) => field)];
  const $unset = Object.fromEntries(removed.map((field) => [field, true]));
  const $set = Object.fromEntries(changed);
  // In a patch they would be paths, or operators.
  if (fields.some((field) => /^\$|\.|^$/.test(field))) {
    const stored = Object.entries((await documents.get(key)) ?? {});
    const kept = stored.filter(([field]) => !removed.includes(field));
    return documents.update(key, { ...Object.fromEntries(kept), ...$set });
  }
  return documents.patch(key, removed.length > 0 ? { $set, $unset } : $set);
}
