import { type IDBPDatabase, openDB } from 'idb';
import type { LeftBehind } from '../engine/handover.ts';
import { databaseName } from '../storage/indexeddb-driver.ts';
import type { PageWriting } from './platform.ts';

/**
 * What a page writes when it ends: the changes that it does not know to be saved, as one record, over a connection
 * that is open already. A worker is too late for this (measured: 0 of 12 pages had 500 documents saved by it, 18 of
 * 18 by the page itself). The next leader makes them.
 */
export class PageRecord implements PageWriting {
  readonly #name: string;
  readonly #client: string;
  #opening: Promise<void> | undefined;
  #database: IDBPDatabase | undefined;

  constructor(database: string, client: string) {
    this.#name = databaseName(database);
    this.#client = client;
  }

  /** Opens the connection, once there is something to lose. */
  prepare(): void {
    this.#opening ??= this.#open();
  }

  /** Writes it, in this very turn. Does nothing where the connection is not open yet. */
  write(left: LeftBehind): boolean {
    if (!this.#database) return false;
    const transaction = this.#database.transaction('handover', 'readwrite');
    // The page is gone before anything could be told.
    transaction.done.catch(() => undefined);
    transaction.store.put(left, ['page', this.#client]).catch(() => undefined);
    transaction.commit();
    return true;
  }

  close(): void {
    const database = this.#database;
    this.#database = undefined;
    database?.close();
  }

  async #open(): Promise<void> {
    const forget = () => {
      this.close();
      this.#opening = undefined;
    };
    try {
      const database = await openDB(this.#name, undefined, {
        blocking: forget,
        terminated: forget,
      });
      if (database.objectStoreNames.contains('handover')) this.#database = database;
      else database.close();
    } catch {
      // The engine reports what is wrong with storage; this is tried again.
      this.#opening = undefined;
    }
  }
}
