import { databaseClosed, databaseDestroyed, putDatabaseId } from './database-id.ts';
import {
  STORE_NAMES,
  type Storage,
  type StorageKey,
  type StorageOperation,
  type StorageRange,
  type StoreName,
} from './driver.ts';
import { resolveFence } from './epoch.ts';
import { compareKeys, isKeyBelow } from './key-order.ts';

interface Entry {
  readonly key: StorageKey;
  readonly value: unknown;
}

/** A database: entries by the JSON of their key, for each store. */
export type Stores = Record<StoreName, Map<string, Entry>>;

/** A new database. */
export function emptyStores(): Stores {
  const stores = Object.fromEntries(STORE_NAMES.map((store) => [store, new Map()])) as Stores;
  const { key, value } = putDatabaseId();
  stores.leadership.set(JSON.stringify(key), { key, value });
  return stores;
}

/** One opening of a database in memory. */
export class MemoryStorage implements Storage {
  readonly #stores: Stores;
  #closed = false;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  async getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    this.#check();
    return keys.map((key) => this.#stores[store].get(JSON.stringify(key))?.value);
  }

  async list(store: StoreName, { prefix, after, limit }: StorageRange): Promise<unknown[]> {
    this.#check();
    return this.#entries(store, prefix)
      .filter(({ key }) => !after || compareKeys(key, after) > 0)
      .slice(0, limit)
      .map(({ value }) => value);
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    this.#check();
    return this.#entries(store, prefix).map(({ key }) => key);
  }

  async write(operations: Iterable<StorageOperation>): Promise<void> {
    this.#check();
    // Drawn to the end and checked first: a batch that throws has applied nothing.
    const drawn = [...operations];
    const claims = drawn.flatMap((operation) => this.#fence(operation));
    for (const operation of [...claims, ...drawn]) {
      const store = this.#stores[operation.store];
      if (operation.type === 'put') {
        store.set(JSON.stringify(operation.key), { key: operation.key, value: operation.value });
      } else if (operation.type === 'delete') {
        store.delete(JSON.stringify(operation.key));
      } else if (operation.type === 'deletePrefix') {
        for (const [id, { key }] of store) if (isKeyBelow(key, operation.prefix)) store.delete(id);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /**
   * @returns what a claim puts.
   * @throws {StorageError} `database_taken`
   */
  #fence(operation: StorageOperation): readonly StorageOperation[] {
    if (operation.type !== 'check' && operation.type !== 'claim') return [];
    const { store, key } = operation;
    const stored = this.#stores[store].get(JSON.stringify(key))?.value;
    const value = resolveFence(stored, operation);
    return value ? [{ type: 'put', store, key, value }] : [];
  }

  #entries(store: StoreName, prefix: StorageKey): Entry[] {
    return [...this.#stores[store].values()]
      .filter(({ key }) => isKeyBelow(key, prefix))
      .sort((a, b) => compareKeys(a.key, b.key));
  }

  #check(): void {
    if (this.#closed) throw databaseClosed();
    // It always has an id; the driver takes it away as it deletes the database.
    if (this.#stores.leadership.size === 0) throw databaseDestroyed();
  }
}
