import type { Storage, StorageDriver } from '../../src/storage/drivers/driver.ts';

/**
 * A storage that passes each call on, for tests that replace some of them: methods of a class
 * cannot be spread.
 */
export const passOn = (storage: Storage): Storage => ({
  getMany: (store, keys) => storage.getMany(store, keys),
  list: (store, range) => storage.list(store, range),
  keys: (store, prefix) => storage.keys(store, prefix),
  write: (operations, durability) => storage.write(operations, durability),
  close: () => storage.close(),
});

/** A driver with other methods in the place of some, each time its storage is opened. */
export function changedDriver(
  inner: StorageDriver,
  change: (storage: Storage) => Partial<Storage>,
): StorageDriver {
  return {
    ...inner,
    open: async (...by) => {
      const storage = await inner.open(...by);
      return { ...passOn(storage), ...change(storage) };
    },
  };
}
