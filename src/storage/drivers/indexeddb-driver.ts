import { type IDBPDatabase, type OpenDBCallbacks, openDB, unwrap, wrap } from 'idb';
import { StorageError } from '../../errors/storage-error.ts';
import { withDeadline } from './deadline.ts';
import {
  type Durability,
  STORE_NAMES,
  type Storage,
  type StorageCheck,
  type StorageDriver,
  type StorageEvents,
  type StorageKey,
  type StorageOperation,
  type StorageRange,
  type StoreName,
} from './driver.ts';
import { databaseTaken, epochOf, storageErrorOf } from './storage-failure.ts';

/** Version of the layout of the object stores; it has changed when this code cannot read a database. */
const LAYOUT_VERSION = 4;

/** An open that takes longer never ends: WebKit's first one may hang (WebKit bug 226547). */
const OPEN_DEADLINE_MS = 10_000;

/** Far above any write of ours. A transaction that takes longer has lost its database. */
const TRANSACTION_DEADLINE_MS = 60_000;

/** Characters serialised in one turn, so that a large batch never blocks the thread for long. */
const PUT_AHEAD = 1024 * 1024;

/** Databases get a prefix: an app may well have one of its own under the same name. */
const NAME_PREFIX = 'cairn:';

/** The name that the browser knows a database by. */
export function databaseName(name: string): string {
  return NAME_PREFIX + name;
}

/** Storage in IndexedDB, the default wherever there is one. */
export function indexedDbDriver(): StorageDriver {
  return {
    kind: 'indexeddb',
    open: async (name, events) => {
      const storage = new IndexedDbStorage(databaseName(name), events);
      await storage.connect();
      return storage;
    },
  };
}

class IndexedDbStorage implements Storage {
  readonly #name: string;
  readonly #events: StorageEvents;
  #database: Promise<IDBPDatabase> | undefined;
  #closed = false;

  constructor(name: string, events: StorageEvents) {
    this.#name = name;
    this.#events = events;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#attempt('reading', async (database) => {
      const transaction = database.transaction(store);
      const values = await Promise.all(
        keys.map((key) => transaction.store.get(key as IDBValidKey)),
      );
      await transaction.done;
      return values;
    });
  }

  list(store: StoreName, { prefix, after, limit }: StorageRange): Promise<unknown[]> {
    const range = IDBKeyRange.bound(after ?? prefix, endOf(prefix), after !== undefined, true);
    return this.#attempt('reading', (database) => database.getAll(store, range, limit));
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    const range = IDBKeyRange.bound(prefix, endOf(prefix));
    return this.#attempt('reading', async (database) => {
      return (await database.getAllKeys(store, range)) as StorageKey[];
    });
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    const stores = storesOf(operations);
    // A retry starts over; what was drawn already is kept for it.
    const drawn = replayable(operations);
    return this.#attempt('writing', (database) => writeAll(database, stores, drawn, durability));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const database = this.#database;
    this.#database = undefined;
    // Whoever opened it has been told why it could not be opened.
    (await database?.catch(() => undefined))?.close();
  }

  /** The connection, opened if there is none. */
  connect(): Promise<IDBPDatabase> {
    if (!this.#database) {
      const connection = this.#open(() => this.#disconnect(connection));
      connection.catch(() => this.#disconnect(connection));
      this.#database = connection;
    }
    return this.#database;
  }

  /** @param unusable Called when the connection must not be used any more. */
  async #open(unusable: () => void): Promise<IDBPDatabase> {
    let late = false;
    const options: OpenDBCallbacks<unknown> = {
      upgrade: (database, _old, _new, _transaction, event) => {
        for (const store of STORE_NAMES) {
          if (!database.objectStoreNames.contains(store)) database.createObjectStore(store);
        }
        this.#reportLoss(event);
      },
      // Another tab deletes the database or brings a newer layout; a connection kept open would block it for ever.
      blocking: unusable,
      terminated: unusable,
    };
    // A page without an origin of its own gets its SecurityError thrown, not told.
    const opening = (async () => openDB(this.#name, LAYOUT_VERSION, options))();
    opening.then(
      (database) => late && database.close(),
      () => undefined,
    );
    try {
      return await withDeadline(opening, OPEN_DEADLINE_MS, () => {
        late = true;
        return new StorageError(
          'storage_timeout',
          `IndexedDB did not open within ${OPEN_DEADLINE_MS / 1000} s. Close other tabs of this site and reload.`,
        );
      });
    } catch (error) {
      throw storageErrorOf(error, 'opening');
    }
  }

  #reportLoss(event: IDBVersionChangeEvent): void {
    // Chromium only: it resets damaged files, and tells it nowhere else.
    if ((event as { dataLoss?: string }).dataLoss !== 'total') return;
    const message =
      'The browser found its database files damaged and started them anew: what was stored before is gone.';
    this.#events.damaged(new StorageError('data_damaged', message));
  }

  /** Gives up a connection; another that has taken its place since stays. */
  #disconnect(connection: Promise<IDBPDatabase>): void {
    if (this.#database === connection) this.#database = undefined;
    connection.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  /** Runs a transaction; on a connection that turns out to be dead, once more on a new one. */
  async #attempt<T>(doing: string, run: (database: IDBPDatabase) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (this.#closed) throw new StorageError('storage_lost', 'The database was closed.');
      const connection = this.connect();
      try {
        return await withDeadline(
          run(await connection),
          TRANSACTION_DEADLINE_MS,
          () => new StorageError('storage_timeout', `IndexedDB did not answer while ${doing}.`),
        );
      } catch (cause) {
        const error = storageErrorOf(cause, doing);
        if (error.code !== 'storage_lost' && error.code !== 'storage_timeout') throw error;
        this.#disconnect(connection);
        if (attempt === 2 || error.code === 'storage_timeout') throw error;
      }
    }
  }
}

/** All but `pages`, unless it is about those. */
const ENGINE_STORES = STORE_NAMES.filter((name) => name !== 'recovery');

/**
 * The stores to lock for a write. A page that ends must not find the store of pages locked by its worker, which ends
 * with it: a transaction that has not begun by then never does (measured in Chromium: 0 of 8; 8 of 8 with a store of its own).
 */
function storesOf(operations: Iterable<StorageOperation>): readonly StoreName[] {
  const isAboutPages = Array.isArray(operations) && operations[0]?.store === 'recovery';
  return isAboutPages ? ['recovery'] : ENGINE_STORES;
}

async function writeAll(
  database: IDBPDatabase,
  stores: readonly StoreName[],
  operations: Iterable<StorageOperation>,
  durability: Durability,
): Promise<void> {
  const wrapped = database.transaction(stores, 'readwrite', { durability });
  const done = wrapped.done;
  // The reason is thrown below; `done` must not count as unhandled until then.
  done.catch(() => undefined);
  // Without a promise for each request, which nearly nobody waits for: a failed one aborts the transaction, and
  // that is what is reported.
  const transaction = unwrap(wrapped);
  const guard = new ScriptGuard(transaction);
  try {
    let behind: (() => Promise<unknown>) | undefined;
    let ahead = 0;
    for (const operation of operations) {
      if (operation.type === 'check') {
        const { store, key, epoch } = operation;
        const got = guard.waiter(transaction.objectStore(store).get(key as IDBValidKey));
        const value = await got();
        if (epochOf(value) !== epoch) throw databaseTaken();
        continue;
      }
      const request = perform(transaction.objectStore(operation.store), operation);
      if (operation.type === 'put') ahead += operation.size ?? 0;
      if (ahead < PUT_AHEAD) continue;
      // For the turn before this one, so that storage always has something to do.
      await behind?.();
      behind = guard.waiter(request);
      ahead = 0;
    }
    guard.finish();
    // Without `commit()` the transaction only ends after one more turn of the event loop, which a closing
    // page does not give it.
    transaction.commit();
  } catch (error) {
    abort(transaction);
    throw error;
  }
  // A full disk shows itself here alone: every put has fired success by then.
  await done;
}

/**
 * Firefox ends a page's script without an exception when it closes the last tab of a site, and then commits what the
 * script has put so far: half a save. So where a request succeeds while nobody waits for any, nothing is stored.
 */
class ScriptGuard {
  #awaited: IDBRequest | undefined;
  #isWhole = false;

  constructor(transaction: IDBTransaction) {
    const heard = ({ target }: Event) => {
      if (target === this.#awaited) this.#awaited = undefined;
      else if (!this.#awaited && !this.#isWhole) abort(transaction);
    };
    transaction.addEventListener('success', heard, true);
  }

  /** @returns waits for the request, now or later. */
  waiter(request: IDBRequest): () => Promise<unknown> {
    const told = wrap(request);
    told.catch(() => undefined);
    return () => {
      if (request.readyState === 'pending') this.#awaited = request;
      return told;
    };
  }

  /** To be called when all is put. */
  finish(): void {
    this.#isWhole = true;
  }
}

function perform(
  store: IDBObjectStore,
  operation: Exclude<StorageOperation, StorageCheck>,
): IDBRequest {
  switch (operation.type) {
    case 'put':
      return store.put(operation.value, operation.key as IDBValidKey);
    case 'delete':
      return store.delete(operation.key as IDBValidKey);
    case 'deletePrefix':
      return store.delete(IDBKeyRange.bound(operation.prefix, endOf(operation.prefix)));
  }
}

/** After all keys with a prefix: an array sorts after every number and string. */
function endOf(prefix: StorageKey): IDBValidKey {
  return [...prefix, []];
}

function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch (error) {
    // It has ended by itself, which is what was wanted.
    if ((error as DOMException).name !== 'InvalidStateError') throw error;
  }
}

/** An iterable that can be gone through again, drawing each item from its source once. */
function replayable<T>(source: Iterable<T>): Iterable<T> {
  const iterator = source[Symbol.iterator]();
  const drawn: T[] = [];
  return {
    *[Symbol.iterator]() {
      for (let index = 0; ; index++) {
        if (index === drawn.length) {
          const next = iterator.next();
          if (next.done) return;
          drawn.push(next.value);
        }
        yield drawn[index] as T;
      }
    },
  };
}
