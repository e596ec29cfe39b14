import type { Storage, StorageDriver } from '../../src/index.ts';

/** In-memory storage; a test can delay its writes or make them fail. */
export class FailingStorage implements StorageDriver {
  readonly kind = 'failing';
  readonly #memory: StorageDriver;
  /** Called before each write; if it rejects, the write fails. */
  beforeWrite: () => Promise<void> = async () => undefined;
  /** How many writes have begun. */
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
