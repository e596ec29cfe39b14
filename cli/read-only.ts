import type {
  Storage,
  StorageDriver,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../src/storage/drivers/driver.ts';
import { resolveFence } from '../src/storage/drivers/epoch.ts';
import { compareKeys, isKeyBelow } from '../src/storage/drivers/key-order.ts';

/** An entry in the place of a stored one; `undefined`: it was deleted. */
interface Written {
  readonly key: StorageKey;
  readonly value: unknown;
}

/**
 * Storage whose writes stay in memory. An engine that only reads documents writes all the same: it
 * takes the lead, drops indexes that nobody declares, and builds others.
 */
class ReadOnlyStorage implements Storage {
  readonly #stored: Storage;
  readonly #written = new Map<string, Written>();

  constructor(stored: Storage) {
    this.#stored = stored;
  }

  get valueLimit(): number | undefined {
    return this.#stored.valueLimit;
  }

  async getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    const stored = await this.#stored.getMany(store, keys);
    return keys.map((key, index) => {
      const written = this.#written.get(nameOf(store, key));
      return written ? written.value : stored[index];
    });
  }

  async list(store: StoreName, { prefix, after, limit }: StorageRange): Promise<unknown[]> {
    const keys = await this.keys(store, prefix);
    const behind = keys.filter((key) => !after || compareKeys(key, after) > 0);
    return this.getMany(store, behind.slice(0, limit));
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    const stored = await this.#stored.keys(store, prefix);
    const kept = stored.filter((key) => !this.#written.has(nameOf(store, key)));
    const added = [...this.#written].flatMap(([name, { key, value }]) =>
      value !== undefined && name.startsWith(`${store} `) && isKeyBelow(key, prefix) ? [key] : [],
    );
    return [...kept, ...added].sort(compareKeys);
  }

  async write(operations: Iterable<StorageOperation>): Promise<void> {
    const drawn = [...operations];
    const put = (store: StoreName, key: StorageKey, value: unknown) =>
      this.#written.set(nameOf(store, key), { key, value });
    const claims: (() => void)[] = [];
    for (const operation of drawn) {
      if (operation.type !== 'check' && operation.type !== 'claim') continue;
      const { store, key } = operation;
      const value = resolveFence((await this.getMany(store, [key]))[0], operation);
      if (value) claims.push(() => put(store, key, value));
    }
    for (const claim of claims) claim();
    for (const operation of drawn) {
      if (operation.type === 'put') put(operation.store, operation.key, operation.value);
      else if (operation.type === 'delete') put(operation.store, operation.key, undefined);
      else if (operation.type === 'deletePrefix')
        for (const key of await this.keys(operation.store, operation.prefix))
          put(operation.store, key, undefined);
    }
  }

  close(): Promise<void> {
    return this.#stored.close();
  }
}

function nameOf(store: StoreName, key: StorageKey): string {
  return `${store} ${JSON.stringify(key)}`;
}

/** The databases of a driver, to be read. What is written to one is gone when it is closed. */
export function readOnly(driver: StorageDriver): StorageDriver {
  return {
    kind: driver.kind,
    open: async (name, events) => new ReadOnlyStorage(await driver.open(name, events)),
  };
}
