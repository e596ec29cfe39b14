import { type IDBPDatabase, type IDBPTransaction, unwrap, wrap } from 'idb';
import {
  type Durability,
  STORE_NAMES,
  type Storage,
  type StorageCheck,
  type StorageClaim,
  type StorageDriver,
  type StorageKey,
  type StorageOperation,
  type StorageRange,
  type StoreName,
} from './driver.ts';
import { EPOCH_KEY, resolveFence } from './epoch.ts';
import { IndexedDbConnection } from './indexeddb-connection.ts';

/** Bytes put in one turn: a large batch must not block the thread while it is serialised. */
const PUT_AHEAD = 1024 * 1024;

type PendingOperation = StorageOperation | Promise<StorageOperation>;

/** Deletes the keys from one to another. */
interface DeleteRange {
  readonly type: 'deleteRange';
  readonly store: StoreName;
  readonly from: StorageKey;
  to: StorageKey;
}

/** All stores but `recovery`. */
const ENGINE_STORES = STORE_NAMES.filter((name) => name !== 'recovery');

/**
 * Storage in IndexedDB, the default wherever there is one. docs/decisions/004-save-transaction.md
 * says why each segment is a `put`.
 */
export function indexedDbDriver(): StorageDriver {
  return {
    kind: 'indexeddb',
    open: async (name, events) => {
      const connection = new IndexedDbConnection(name, events);
      await connection.connect();
      return new IndexedDbStorage(connection);
    },
  };
}

class IndexedDbStorage implements Storage {
  readonly #connection: IndexedDbConnection;

  constructor(connection: IndexedDbConnection) {
    this.#connection = connection;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#connection.run('reading', async (database) => {
      // In WebKit an empty transaction that a worker began as its page closed stayed open: later
      // writes waited for ever.
      if (keys.length === 0) return [];
      const transaction = this.#begin(database, store);
      return Promise.all(keys.map((key) => transaction.store.get(key as IDBValidKey)));
    });
  }

  list(store: StoreName, { prefix, after, limit }: StorageRange): Promise<unknown[]> {
    const range = IDBKeyRange.bound(after ?? prefix, endOf(prefix), after !== undefined, true);
    // Before the transaction is done, a turn earlier.
    return this.#connection.run('reading', (database) =>
      this.#begin(database, store).store.getAll(range, limit),
    );
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    const range = IDBKeyRange.bound(prefix, endOf(prefix));
    return this.#connection.run('reading', async (database) => {
      return (await this.#begin(database, store).store.getAllKeys(range)) as StorageKey[];
    });
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    return this.#write(storesOf(operations), operations, durability);
  }

  writePending(
    operations: Iterable<Promise<StorageOperation>>,
    durability: Durability,
  ): Promise<void> {
    return this.#write(ENGINE_STORES, operations, durability);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #write(
    stores: StoreName[],
    operations: Iterable<PendingOperation>,
    durability: Durability,
  ): Promise<void> {
    // A retry starts over with the operations drawn so far.
    const drawn = replayable(operations);
    let transaction: IDBPTransaction<unknown, StoreName[], 'readwrite'> | undefined;
    const writing = this.#connection.run('writing', (database) => {
      transaction = database.transaction(stores, 'readwrite', { durability });
      return writeBatch(this.#connection.begun(transaction), drawn);
    });
    return writing.catch((error) => {
      // One that took too long must not go on: the caller undoes what was drawn until now.
      if (transaction) abort(transaction);
      throw error;
    });
  }

  #begin(database: IDBPDatabase, store: StoreName) {
    return this.#connection.begun(database.transaction(store));
  }
}

/**
 * The stores that a write locks. A page that ends must not find `recovery` locked by its own
 * worker, which ends with it: a transaction that has not begun by then never begins (Chromium: 0 of
 * 8 did; 8 of 8 with a lock of their own).
 */
function storesOf(operations: Iterable<StorageOperation>): StoreName[] {
  if (!Array.isArray(operations) || operations[0]?.store !== 'recovery') return ENGINE_STORES;
  return operations.at(-1).store === 'recovery' ? ['recovery'] : [...STORE_NAMES];
}

/**
 * Firefox ends a page's script without an exception when it closes the last tab of a site, and then
 * commits what the script has put so far: half a save. So a request that succeeds while the script
 * awaits none aborts the transaction.
 */
class ScriptGuard {
  #awaited: IDBRequest | undefined;
  #isWhole = false;

  constructor(transaction: IDBTransaction) {
    const onSuccess = ({ target }: Event) => {
      if (target === this.#awaited) this.#awaited = undefined;
      else if (!this.#awaited && !this.#isWhole) abort(transaction);
    };
    transaction.addEventListener('success', onSuccess, true);
  }

  /** @returns awaits the request, now or later. */
  waiter(request: IDBRequest): () => Promise<unknown> {
    const settled = wrap(request);
    settled.catch(() => undefined);
    return () => {
      if (request.readyState === 'pending') this.#awaited = request;
      return settled;
    };
  }

  /** Must be called when the whole batch is put. */
  finish(): void {
    this.#isWhole = true;
  }
}

/** Applies a batch in one transaction; resolves when it is committed. */
async function writeBatch(
  wrapped: IDBPTransaction<unknown, StoreName[], 'readwrite'>,
  operations: Iterable<PendingOperation>,
): Promise<void> {
  const done = wrapped.done;
  // The reason is thrown below; `done` must not count as unhandled until then.
  done.catch(() => undefined);
  // Unwrapped: idb makes a promise for each request. A request that fails aborts the transaction,
  // which is reported.
  const transaction = unwrap(wrapped);
  const guard = new ScriptGuard(transaction);
  try {
    let behind: (() => Promise<unknown>) | undefined;
    let ahead = 0;
    for (const pending of withRanges(operations)) {
      const operation = 'then' in pending ? await computed(pending, transaction, guard) : pending;
      const store = transaction.objectStore(operation.store);
      let request: IDBRequest | undefined;
      switch (operation.type) {
        case 'put':
          request = store.put(operation.value, operation.key as IDBValidKey);
          ahead += operation.size ?? 0;
          break;
        case 'delete':
          request = store.delete(operation.key as IDBValidKey);
          break;
        case 'deleteRange':
          request = store.delete(IDBKeyRange.bound(operation.from, operation.to));
          break;
        case 'deletePrefix':
          request = store.delete(IDBKeyRange.bound(operation.prefix, endOf(operation.prefix)));
          break;
        default:
          await fence(store, operation, guard);
          continue;
      }
      if (ahead < PUT_AHEAD) continue;
      // Waits for the turn before this one, so that storage always has something to do.
      await behind?.();
      behind = guard.waiter(request);
      ahead = 0;
    }
    guard.finish();
    // Without `commit()` the transaction only ends after one more turn of the event loop, which a
    // closing page does not give it.
    transaction.commit();
  } catch (error) {
    abort(transaction);
    throw error;
  }
  // A full disk fails here alone: every put has fired success by then.
  await done;
}

/**
 * Joins deletions of adjacent numbers. A compaction deletes a hundred small segments; one by one,
 * that takes a fifth of the time of all saves between two of them (docs/decisions/020).
 */
function* withRanges(
  operations: Iterable<PendingOperation>,
): Generator<PendingOperation | DeleteRange> {
  let range: DeleteRange | undefined;
  for (const operation of operations) {
    const deleted = 'then' in operation || operation.type !== 'delete' ? undefined : operation;
    if (deleted && deleted.store === range?.store && isNext(range.to, deleted.key)) {
      range.to = deleted.key;
      continue;
    }
    if (range) yield range;
    range = undefined;
    if (!deleted) yield operation;
    else range = { type: 'deleteRange', store: deleted.store, from: deleted.key, to: deleted.key };
  }
  if (range) yield range;
}

/** Whether no key can lie between two keys: they end in adjacent numbers. */
function isNext([...prefix]: StorageKey, next: StorageKey): boolean {
  const number = prefix.pop();
  return (
    typeof number === 'number' &&
    next.length === prefix.length + 1 &&
    next.every((item, index) => item === (prefix[index] ?? number + 1))
  );
}

/**
 * Awaits an operation. The transaction stays open: it ends when control returns to the event loop
 * without a request.
 */
async function computed(
  pending: Promise<StorageOperation>,
  transaction: IDBTransaction,
  guard: ScriptGuard,
): Promise<StorageOperation> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  pending.then(settle, settle);
  await undefined;
  while (!isSettled) {
    const store = transaction.objectStore('leadership');
    const key = EPOCH_KEY as IDBValidKey;
    const request = guard.waiter(store.getKey(key));
    // Still runs when the first is answered: the guard notices by it that this script was ended.
    store.getKey(key);
    await request();
  }
  return pending;
}

/** @throws {StorageError} `database_taken` */
async function fence(
  store: IDBObjectStore,
  operation: StorageCheck | StorageClaim,
  guard: ScriptGuard,
): Promise<void> {
  const key = operation.key as IDBValidKey;
  const value = resolveFence(await guard.waiter(store.get(key))(), operation);
  if (value) store.put(value, key);
}

/** The upper bound of all keys with a prefix: an array sorts after every number and string. */
function endOf(prefix: StorageKey): IDBValidKey {
  return [...prefix, []];
}

/** An iterable for several passes that draws each item from its source once. */
function replayable<T>(source: Iterable<T>): Iterable<T> {
  const iterator = source[Symbol.iterator]();
  const drawn: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  const draw = () => {
    if (failure) throw failure.error;
    try {
      return iterator.next();
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  return {
    *[Symbol.iterator]() {
      for (let index = 0; ; index++) {
        if (index === drawn.length) {
          const next = draw();
          if (next.done) return;
          drawn.push(next.value);
        }
        yield drawn[index] as T;
      }
    },
  };
}

/** Aborts a transaction, unless it has ended. */
function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch (error) {
    // It has aborted by itself.
    if ((error as DOMException).name !== 'InvalidStateError') throw error;
  }
}
