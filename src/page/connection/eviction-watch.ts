import { StorageError } from '../../errors/errors.ts';
import { evictedKey, markKey, readKept, removeKept, writeKept } from '../../platform/page-store.ts';
import type { ChannelObserver } from '../../protocol/database-settings.ts';
import type { EngineEvents } from '../../protocol/event-protocol.ts';
import type { Replayer } from './replay.ts';

/**
 * Notices that the browser has evicted a database: a mark outside of IndexedDB has the id of the
 * database that held data, and the one of this opening has another. `destroy()` removes the mark,
 * and private windows forget it with the data. docs/decisions/045-eviction.md has the reasons.
 */
export class EvictionWatch {
  readonly #name: string;
  readonly #key: string;
  readonly #found: (error: StorageError) => void;
  #database: string | undefined;
  #storage: string | undefined;
  #isChecked = false;
  #isMarked = false;

  /** @param found Called once, if the database was evicted. */
  constructor(name: string, found: (error: StorageError) => void) {
    this.#name = name;
    this.#key = markKey(name, 'held');
    this.#found = found;
  }

  /** Whether the data is evicted, and neither restored nor given up. */
  get isEvicted(): boolean {
    return readKept(evictedKey(this.#name)) !== undefined;
  }

  async opened(replayer: Pick<Replayer, 'joining' | 'database'> | undefined): Promise<void> {
    await replayer?.joining;
    this.#database ??= replayer?.database;
    this.#check();
  }

  take({ type, detail }: Parameters<ChannelObserver['event']>[0]): void {
    if (type === 'status') {
      this.#storage = (detail as EngineEvents['status']).storage;
      this.#check();
    } else if (type === 'save') this.#mark();
    else if (type === 'restore') removeKept(evictedKey(this.#name));
  }

  /** Data in memory, or with a driver of the caller's, is not the browser's to evict. */
  get #isBrowsers(): boolean {
    return this.#storage === 'indexeddb' || this.#storage === 'opfs';
  }

  #check(): void {
    if (this.#isChecked || !this.#database || !this.#isBrowsers) return;
    this.#isChecked = true;
    const held = readKept(this.#key);
    if (held === undefined || held === this.#database) return;
    writeKept(evictedKey(this.#name), held);
    this.#found(storageEvicted(this.#name));
  }

  /** From now on the database holds data. */
  #mark(): void {
    if (this.#isMarked || !this.#isChecked || !this.#database) return;
    this.#isMarked = true;
    writeKept(this.#key, this.#database);
  }
}

export function storageEvicted(name: string): StorageError {
  return new StorageError(
    'storage_evicted',
    `The browser has removed the data of database "${name}", which is empty now. Restore a backup: restoreFrom() of cairndb/backup-targets, or importAll().`,
    { place: name },
  );
}
