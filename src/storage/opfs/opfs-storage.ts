import type {
  Durability,
  Storage,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../drivers/driver.ts';
import type { FileDatabase } from './file-database.ts';
import { databaseClosed } from './opfs-failure.ts';

/**
 * One opening of a database in files. Recovery records are in `pages`, IndexedDB: a page that ends can write nothing else, and
 * no file.
 */
export class OpfsStorage implements Storage {
  readonly #files: FileDatabase;
  readonly #pages: Storage;
  readonly #release: () => Promise<void>;
  #isClosed = false;

  /** @param release Called once, when it is closed. */
  constructor(files: FileDatabase, pages: Storage, release: () => Promise<void>) {
    this.#files = files;
    this.#pages = pages;
    this.#release = release;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#in(store).getMany(store, keys);
  }

  list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    return this.#in(store).list(store, range);
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    return this.#in(store).keys(store, prefix);
  }

  getItem(store: StoreName, key: StorageKey, field: string, index: number): Promise<unknown> {
    return this.#isClosed ? CLOSED.getItem() : this.#files.getItem(store, key, field, index);
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    const store = Array.isArray(operations) ? operations[0]?.store : undefined;
    return this.#in(store).write(operations, durability);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      // The last one notes there how long the file is.
      await this.#release();
    } finally {
      this.#files.notes.pages.delete(this.#pages);
      await this.#pages.close();
    }
  }

  #in(store: StoreName | undefined): Pick<Storage, 'getMany' | 'list' | 'keys' | 'write'> {
    if (this.#isClosed) return CLOSED;
    return store === 'recovery' ? this.#pages : this.#files;
  }
}

async function refuse(): Promise<never> {
  throw databaseClosed();
}

const CLOSED = { getMany: refuse, list: refuse, keys: refuse, write: refuse, getItem: refuse };
