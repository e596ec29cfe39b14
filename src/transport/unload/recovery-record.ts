import { type IDBPDatabase, openDB, unwrap } from 'idb';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery-records.ts';
import { databaseName } from '../../storage/drivers/indexeddb-connection.ts';
import type { UnloadJournals, UnloadWriter } from '../platform/unload-writer.ts';
import { holdStorage, unloadJournals } from './unload-journal.ts';

/** How the records of an encrypted database are written. */
export interface RecordSealing {
  /** Gets the key ready, if it is not. */
  prepare(): void;
  /** As {@link UnloadWriter.pending}. */
  readonly pending: Promise<void> | undefined;
  /** @returns the value to store, with as many changes as it can have, and whether these are all. */
  seal(record: RecoveryRecord): { readonly value: object; readonly isWhole: boolean };
  readonly journals: Pick<UnloadJournals, 'write'>;
}

/**
 * Writes the unsaved changes of a page that is hidden or ends; the next leader replays them. A worker is too late for
 * this: 500 documents were saved by the worker in 0 of 12 pages, by the page itself in 18 of 18.
 *
 * Neither store is reliable alone. A record in IndexedDB, over a connection that is open already, holds any number of
 * changes, but WebKit aborts its transaction with the page, Chromium when it quits, and in Firefox and WebKit it waits
 * for the worker's write. A journal in `localStorage` always arrives, but has little room.
 */
export class PageUnloadWriter implements UnloadWriter {
  readonly #database: string;
  readonly #sealing: RecordSealing | undefined;
  readonly #journals: Pick<UnloadJournals, 'write'>;
  #opening: Promise<void> | undefined;
  #connection: IDBPDatabase | undefined;
  /** Counts attempts to open it: the connection of an earlier one is not kept, and must not stay open. */
  #attempt = 0;
  /** Written records that may still be in storage. */
  #stored: RecoveryKey[] = [];
  #journaled: RecoveryKey[] = [];

  constructor(database: string, sealing?: RecordSealing) {
    this.#database = database;
    this.#sealing = sealing;
    this.#journals = sealing?.journals ?? unloadJournals;
  }

  begin(): void {
    this.#sealing?.prepare();
  }

  get pending(): Promise<void> | undefined {
    return this.#sealing?.pending;
  }

  /** Opens the connection with the first unsaved change. */
  prepare(): void {
    this.#opening ??= this.#open();
  }

  write(record: RecoveryRecord, prefersJournal = false): boolean {
    // The faster first: Firefox may end this script anywhere, and the journal goes to another process.
    const isStored = !prefersJournal && this.store(record);
    this.#journaled.push([record.client, record.ending]);
    const isJournaled = !this.pending && this.#journals.write(this.#database, record);
    return isJournaled || isStored || (prefersJournal && this.store(record));
  }

  store(record: RecoveryRecord): boolean {
    const key: RecoveryKey = [record.client, record.ending];
    if (this.pending) return false;
    const { value, isWhole } = this.#sealing?.seal(record) ?? { value: record, isWhole: true };
    const isStored = this.#change((records) => records.put(value, [...key]));
    if (isStored) this.#stored.push(key);
    return isStored && isWhole;
  }

  journal(record: RecoveryRecord): void {
    this.#journaled.push([record.client, record.ending]);
    if (!this.pending) this.#journals.write(this.#database, record, true);
  }

  forget(): void {
    const [stored, journaled] = [this.#stored.splice(0), this.#journaled.splice(0)];
    if (journaled.length > 0) unloadJournals.forget(this.#database, journaled);
    if (stored.length === 0) return;
    // If this fails, the next leader's watermarks show that all changes are applied.
    this.#change((records) => {
      for (const key of stored) records.delete([...key]);
    });
  }

  close(): void {
    this.#attempt++;
    this.#opening = undefined;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
  }

  /** @returns whether the transaction began. */
  #change(change: (records: IDBObjectStore) => void): boolean {
    if (!this.#connection) return false;
    try {
      const transaction = unwrap(this.#connection).transaction('recovery', 'readwrite');
      change(transaction.objectStore('recovery'));
      transaction.commit();
      return true;
    } catch {
      // The browser closes the connection, or a newer version in another tab does.
      return false;
    }
  }

  async #open(): Promise<void> {
    const attempt = ++this.#attempt;
    const forget = () => {
      if (this.#attempt === attempt) this.close();
    };
    holdStorage();
    try {
      const connection = await openDB(databaseName(this.#database), undefined, {
        // Only the engine creates the database: this would leave it without object stores.
        upgrade: (_database, _old, _new, transaction) => {
          transaction.done.catch(() => undefined);
          transaction.abort();
        },
        blocking: forget,
        terminated: forget,
      });
      const isWanted =
        this.#attempt === attempt && connection.objectStoreNames.contains('recovery');
      if (isWanted) this.#connection = connection;
      else connection.close();
    } catch {
      // The engine reports failures of the storage; the next change tries again.
      if (this.#attempt === attempt) this.#opening = undefined;
    }
  }
}
