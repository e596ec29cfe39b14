import { type IDBPDatabase, unwrap, wrap } from 'idb';
import {
  type Durability,
  STORE_NAMES,
  type StorageCheck,
  type StorageClaim,
  type StorageKey,
  type StorageOperation,
  type StoreName,
} from './driver.ts';
import { databaseTaken, epochOf, resolveClaim } from './epoch.ts';

/** Bytes put in one turn: a large batch must not block the thread while it is serialised. */
const PUT_AHEAD = 1024 * 1024;

/** All stores but `recovery`. */
const ENGINE_STORES = STORE_NAMES.filter((name) => name !== 'recovery');

/**
 * The stores that a write locks. A page that ends must not find `recovery` locked by its own worker, which ends with
 * it: a transaction that has not begun by then never begins (Chromium: 0 of 8 did; 8 of 8 with a lock of their own).
 */
export function storesOf(operations: Iterable<StorageOperation>): readonly StoreName[] {
  const isRecovery = Array.isArray(operations) && operations[0]?.store === 'recovery';
  return isRecovery ? ['recovery'] : ENGINE_STORES;
}

/** Applies a batch in one transaction; resolves when it is committed. */
export async function writeBatch(
  database: IDBPDatabase,
  stores: readonly StoreName[],
  operations: Iterable<StorageOperation>,
  durability: Durability,
): Promise<void> {
  const wrapped = database.transaction(stores, 'readwrite', { durability });
  const done = wrapped.done;
  // The reason is thrown below; `done` must not count as unhandled until then.
  done.catch(() => undefined);
  // Unwrapped: idb makes a promise for each request. A request that fails aborts the transaction, which is reported.
  const transaction = unwrap(wrapped);
  const guard = new ScriptGuard(transaction);
  try {
    let behind: (() => Promise<unknown>) | undefined;
    let ahead = 0;
    for (const operation of operations) {
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
    // Without `commit()` the transaction only ends after one more turn of the event loop, which a closing
    // page does not give it.
    transaction.commit();
  } catch (error) {
    abort(transaction);
    throw error;
  }
  // A full disk fails here alone: every put has fired success by then.
  await done;
}

/** @throws {StorageError} `database_taken` */
async function fence(
  store: IDBObjectStore,
  operation: StorageCheck | StorageClaim,
  guard: ScriptGuard,
): Promise<void> {
  const key = operation.key as IDBValidKey;
  const stored = await guard.waiter(store.get(key))();
  if (operation.type === 'check') {
    if (epochOf(stored) !== operation.epoch) throw databaseTaken();
    return;
  }
  const value = resolveClaim(stored, operation);
  if (value) store.put(value, key);
}

/**
 * Firefox ends a page's script without an exception when it closes the last tab of a site, and then commits what the
 * script has put so far: half a save. So a request that succeeds while the script awaits none aborts the transaction.
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

/** The upper bound of all keys with a prefix: an array sorts after every number and string. */
export function endOf(prefix: StorageKey): IDBValidKey {
  return [...prefix, []];
}

function abort(transaction: { abort(): void }): void {
  try {
    transaction.abort();
  } catch (error) {
    // It has aborted by itself.
    if ((error as DOMException).name !== 'InvalidStateError') throw error;
  }
}

/** An iterable for several passes that draws each item from its source once. */
export function replayable<T>(source: Iterable<T>): Iterable<T> {
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
