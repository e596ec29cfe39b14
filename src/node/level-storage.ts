import type {
  Durability,
  Storage,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../storage/drivers/driver.ts';
import { levelClosed } from './files-failure.ts';
import type { LevelDatabase } from './level-database.ts';

/** One opening of a database in files. */
export class LevelStorage implements Storage {
  readonly #database: LevelDatabase;
  readonly #release: () => Promise<void>;
  #isClosed = false;

  /** @param release Called once, when it is closed. */
  constructor(database: LevelDatabase, release: () => Promise<void>) {
    this.#database = database;
    this.#release = release;
  }

  async getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#open.getMany(store, keys);
  }

  async list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    return this.#open.list(store, range);
  }

  async keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    return this.#open.keys(store, prefix);
  }

  async write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    return this.#open.write(operations, durability);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#release();
  }

  get #open(): LevelDatabase {
    if (this.#isClosed) throw levelClosed();
    return this.#database;
  }
}
