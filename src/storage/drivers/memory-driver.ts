import type { StorageDriver } from './driver.ts';
import type { Stores } from './memory-storage.ts';

/**
 * Storage in memory. Databases live as long as the driver that made them, so that one driver passed to
 * two doors, one after the other, behaves as a reload does.
 *
 * Values are kept as they are given, not cloned: whoever stores something must not change it later. The
 * engine only stores segments, which are immutable.
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
      // Loaded on demand: most pages never keep anything in memory alone.
      const { emptyStores, MemoryStorage } = await import('./memory-storage.ts');
      const stores = databases.get(name) ?? emptyStores();
      databases.set(name, stores);
      return new MemoryStorage(stores);
    },
  };
}
