import { type IDBPDatabase, openDB, unwrap } from 'idb';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery.ts';
import { databaseName } from '../../storage/drivers/indexeddb-driver.ts';
import type { UnloadWriter } from '../platform/platform.ts';
import { holdStorage, unloadJournals } from './unload-journal.ts';

/**
 * Writes the unsaved changes of a page that is hidden or ends; the next leader replays them. A worker is too late for
 * this: 0 of 12 pages had 500 documents saved by their worker, 18 of 18 by the page itself.
 *
 * Neither place is sure, so there are two. A record in IndexedDB, over a connection that is open already, holds any
 * number of changes; WebKit aborts its transaction with the page, Chromium when it is quit, and in Firefox and WebKit
 * it does not begin while the worker writes. A journal in `localStorage` always arrives, and has little room.
 */
export class PageUnloadWriter implements UnloadWriter {
  readonly #database: string;
  #opening: Promise<void> | undefined;
  #connection: IDBPDatabase | undefined;
  /** Records that were written, and may still be there. */
  #stored: RecoveryKey[] = [];
  #journaled: RecoveryKey[] = [];

  constructor(database: string) {
    this.#database = database;
  }

  /** Opens the connection, once there is something to lose. */
  prepare(): void {
    this.#opening ??= this.#open();
  }

  write(record: RecoveryRecord): boolean {
    // Quickest first: Firefox may end this script anywhere, and the journal is written to another process.
    const isStored = this.store(record);
    this.#journaled.push([record.client, record.ending]);
    return unloadJournals.write(this.#database, record) || isStored;
  }

  store(record: RecoveryRecord): boolean {
    const key: RecoveryKey = [record.client, record.ending];
    const isStored = this.#change((records) => records.put(record, [...key]));
    if (isStored) this.#stored.push(key);
    return isStored;
  }

  journal(record: RecoveryRecord): void {
    this.#journaled.push([record.client, record.ending]);
    unloadJournals.write(this.#database, record, true);
  }

  forget(): void {
    const [stored, journaled] = [this.#stored.splice(0), this.#journaled.splice(0)];
    if (journaled.length > 0) unloadJournals.forget(this.#database, journaled);
    if (stored.length === 0) return;
    // Where that fails, the next leader finds that all changes are applied.
    this.#change((records) => {
      for (const key of stored) records.delete([...key]);
    });
  }

  close(): void {
    this.#opening = undefined;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
  }

  /** @returns whether it is begun. */
  #change(change: (records: IDBObjectStore) => void): boolean {
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
        // Only the engine creates the database: one without object stores would stay so.
        upgrade: (_database, _old, _new, transaction) => {
          transaction.done.catch(() => undefined);
          transaction.abort();
        },
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
