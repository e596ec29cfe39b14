import { loadFailed } from '../../errors/errors.ts';
import type { StorageDriver } from './driver.ts';
import type { Stores } from './memory-storage.ts';

/**
 * Storage in memory. Databases live as long as their driver: passing one driver to two clients, one
 * after the other, behaves like a reload.
 *
 * Values are stored without a copy: a caller must not change them later. The engine stores
 * immutable segments only.
 *
 * @example
 * ```ts
 * const storage = memoryDriver();
 * const db = new Database({ name: 'shop', storage });
 * ```
 */
export function memoryDriver(): StorageDriver {
  const databases = new Map<string, Stores>();
  return {
    kind: 'memory',
    open: async (name) => {
      // Most engines use IndexedDB. In a worker it comes with the part `storage`.
      const { emptyStores, MemoryStorage } = await import('./memory-storage.ts').catch(loadFailed);
      const stores = databases.get(name) ?? emptyStores();
      databases.set(name, stores);
      return new MemoryStorage(stores);
    },
    delete: async (name) => {
      const stores = databases.get(name);
      databases.delete(name);
      stores?.leadership.clear();
    },
  };
}
