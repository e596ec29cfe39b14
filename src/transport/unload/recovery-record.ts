import { type IDBPDatabase, openDB, unwrap } from 'idb';
import type { RecoveryRecord } from '../../engine/recovery.ts';
import { databaseName } from '../../storage/drivers/indexeddb-driver.ts';
import type { UnloadWriter } from '../platform/platform.ts';
import { holdStorage, unloadJournals } from './unload-journal.ts';

/**
 * What a page writes when it is hidden or ends: the changes that it does not know to be saved. A worker is too late for this
 * (measured: 0 of 12 pages had 500 documents saved by it, 18 of 18 by the page itself). The next leader makes them.
 *
 * They go to two places, as neither is sure. A record in storage, over a connection that is open already, holds any
 * number of them; WebKit ends its transaction with the page, and where engines can only write one after the other,
 * it does not even begin while the worker writes. A journal arrives always, and has no room for many.
 */
export class PageUnloadWriter implements UnloadWriter {
  readonly #database: string;
  #opening: Promise<void> | undefined;
  #connection: IDBPDatabase | undefined;
  /** Records that were written, and may still be there. */
  #written: IDBValidKey[] = [];

  constructor(database: string) {
    this.#database = database;
  }

  /** Opens the connection, once there is something to lose. */
  prepare(): void {
    this.#opening ??= this.#open();
  }

  write(left: RecoveryRecord): boolean {
    // Quickest first: Firefox may end this script anywhere, and the journal is written to another process.
    const isStored = this.store(left);
    return unloadJournals.write(this.#database, left) || isStored;
  }

  store(left: RecoveryRecord): boolean {
    const key = [left.client, left.ending];
    const isStored = this.#change((pages) => pages.put(left, key));
    if (isStored) this.#written.push(key);
    return isStored;
  }

  forget(): void {
    const keys = this.#written.splice(0);
    if (keys.length === 0) return;
    // Where that fails, the next leader finds that it has all of it.
    this.#change((pages) => {
      for (const key of keys) pages.delete(key);
    });
  }

  close(): void {
    this.#opening = undefined;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
  }

  /** @returns whether it is begun. */
  #change(change: (pages: IDBObjectStore) => void): boolean {
    if (!this.#connection) return false;
    try {
      const transaction = unwrap(this.#connection).transaction('recovery', 'readwrite');
      change(transaction.objectStore('recovery'));
      transaction.commit();
      return true;
    } catch {
      // The connection is being closed, by the browser or for a newer version in another tab.
      return false;
    }
  }

  async #open(): Promise<void> {
    const forget = () => this.close();
    holdStorage();
    try {
      const connection = await openDB(databaseName(this.#database), undefined, {
        blocking: forget,
        terminated: forget,
      });
      const isWanted = this.#opening && connection.objectStoreNames.contains('recovery');
      if (isWanted) this.#connection = connection;
      else connection.close();
    } catch {
      // The engine reports what is wrong with storage; this is tried again.
      this.#opening = undefined;
    }
  }
}
