import type { Storage, StorageDriver } from '../../src/index.ts';

/** Memory whose writes a test can hold up or let fail. */
export class FailingStorage implements StorageDriver {
  readonly kind = 'failing';
  readonly #memory: StorageDriver;
  /** Called before each write; rejects to let it fail. */
  beforeWrite: () => Promise<void> = async () => undefined;
  /** Writes that were begun. */
  writes = 0;

  constructor(memory: StorageDriver) {
    this.#memory = memory;
  }

  async open(...args: Parameters<StorageDriver['open']>): Promise<Storage> {
    const storage = await this.#memory.open(...args);
    return {
      getMany: (...rest) => storage.getMany(...rest),
      list: (...rest) => storage.list(...rest),
      keys: (...rest) => storage.keys(...rest),
      write: async (...rest) => {
        this.writes++;
        await this.beforeWrite();
        await storage.write(...rest);
      },
      close: () => storage.close(),
    };
  }
}
