import { type IDBPDatabase, type OpenDBCallbacks, openDB } from 'idb';
import { Backoff, CLOSE_DEADLINE_MS, withDeadline } from '../../async/clock.ts';
import { StorageError } from '../../errors/errors.ts';
import { DATABASE_ID, databaseClosed, databaseDestroyed, putDatabaseId } from './database-id.ts';
import { STORE_NAMES, type StorageEvents } from './driver.ts';
import { storageErrorOf } from './storage-failure.ts';

/** Version of the object stores. A higher one in storage is refused with `format_newer`. */
const LAYOUT_VERSION = 1;

/** An open that takes longer never settles: WebKit's first one may hang (WebKit bug 226547). */
const OPEN_DEADLINE_MS = 10_000;

/** Far above any write of ours: a transaction that takes longer has lost its database. */
const TRANSACTION_DEADLINE_MS = 60_000;

/** First wait before a database is opened again whose connection the browser has closed. */
const AGAIN_MS = 100;

/** An app may have a database of its own under the same name. */
const NAME_PREFIX = 'cairn:';

export function databaseName(name: string): string {
  return NAME_PREFIX + name;
}

/** A connection to IndexedDB, opened anew where it was lost; not where its database was deleted. */
export class IndexedDbConnection {
  readonly #name: string;
  readonly #events: StorageEvents;
  #database: Promise<IDBPDatabase> | undefined;
  #closed = false;
  /** Whether it was open before: then the database exists, unless somebody has deleted it. */
  #wasOpen = false;
  #destroyed = false;
  readonly #running = new Set<Promise<void>>();

  constructor(name: string, events: StorageEvents) {
    this.#name = databaseName(name);
    this.#events = events;
  }

  /** The connection, opened if there is none. */
  connect(): Promise<IDBPDatabase> {
    if (!this.#database) {
      const connection = this.#open(() => this.#disconnect(connection));
      connection.catch(() => this.#disconnect(connection));
      this.#database = connection;
    }
    return this.#database;
  }

  /** @param unusable Called when the connection must not be used any longer. */
  async #open(unusable: () => void): Promise<IDBPDatabase> {
    let late = false;
    const options: OpenDBCallbacks<unknown> = {
      upgrade: (database, _old, _new, transaction, event) => {
        if (this.#wasOpen) {
          this.#noteDeletion();
          transaction.done.catch(() => undefined);
          transaction.abort();
          return;
        }
        for (const store of STORE_NAMES) database.createObjectStore(store);
        const { value } = putDatabaseId();
        void transaction.objectStore('leadership').put(value, DATABASE_ID as IDBValidKey);
        this.#reportLoss(event);
      },
      // Another tab deletes the database or opens a newer layout: an open connection would block it
      // for ever.
      blocking: (_version, next) => {
        unusable();
        if (next === null) this.#noteDeletion();
      },
      terminated: () => {
        unusable();
        void this.#openAgain();
      },
    };
    // In a page without an origin of its own openDB throws its SecurityError synchronously.
    const opening = (async () => openDB(this.#name, LAYOUT_VERSION, options))();
    opening.then(
      (database) => late && database.close(),
      () => undefined,
    );
    try {
      const opened = await withDeadline(opening, OPEN_DEADLINE_MS, () => {
        late = true;
        return new StorageError(
          'storage_timeout',
          `IndexedDB did not open within ${OPEN_DEADLINE_MS / 1000} s. Close other tabs of this site and reload.`,
        );
      });
      this.#wasOpen = true;
      return opened;
    } catch (error) {
      throw this.#destroyed ? databaseDestroyed() : storageErrorOf(error, 'opening');
    }
  }

  /**
   * The browser has closed the connection: to open another tells whether it has deleted the
   * database. Chromium aborts the first opening after a deletion.
   */
  async #openAgain(): Promise<void> {
    const backoff = new Backoff(AGAIN_MS);
    const later = () => new Promise((resolve) => setTimeout(resolve, backoff.failed()));
    while (!this.#database && !this.#closed && !this.#destroyed) await this.connect().catch(later);
  }

  #noteDeletion(): void {
    if (!this.#destroyed && !this.#closed) this.#events.deleted?.();
    this.#destroyed = true;
  }

  #reportLoss(event: IDBVersionChangeEvent): void {
    // Chromium only: it resets damaged files, and reports it nowhere else.
    if ((event as { dataLoss?: string }).dataLoss !== 'total') return;
    const message =
      'The browser found its database files damaged and replaced them with empty ones: everything stored before is gone. Restore it from a backup file or from your server.';
    this.#events.damaged(new StorageError('data_damaged', message));
  }

  /** Closes a connection; a newer one stays. */
  #disconnect(connection: Promise<IDBPDatabase>): void {
    if (this.#database === connection) this.#database = undefined;
    connection.then(
      (open) => open.close(),
      () => undefined,
    );
  }

  /** Must be called with each transaction: a connection closes after those that run. */
  begun<T extends { readonly done: Promise<void> }>(transaction: T): T {
    const { done } = transaction;
    const ended = () => void this.#running.delete(done);
    this.#running.add(done);
    done.then(ended, ended);
    return transaction;
  }

  /**
   * Runs a transaction, and once more on a new connection where the first turns out to be dead.
   *
   * @param doing What fails, in errors.
   */
  async run<T>(doing: string, run: (database: IDBPDatabase) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (this.#closed) throw databaseClosed();
      if (this.#destroyed) throw databaseDestroyed();
      const connection = this.connect();
      try {
        return await withDeadline(
          run(await connection),
          TRANSACTION_DEADLINE_MS,
          () => new StorageError('storage_timeout', `IndexedDB did not answer while ${doing}.`),
        );
      } catch (cause) {
        const error = storageErrorOf(cause, doing);
        if (this.#destroyed) throw databaseDestroyed();
        if (error.code !== 'storage_lost' && error.code !== 'storage_timeout') throw error;
        this.#disconnect(connection);
        if (attempt === 2 || error.code === 'storage_timeout') throw error;
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const database = this.#database;
    this.#database = undefined;
    // In WebKit a worker that is terminated while a transaction runs leaves its connection open,
    // and blocks a deletion. A dead one never ends.
    const ended = Promise.allSettled(this.#running);
    await withDeadline(ended, CLOSE_DEADLINE_MS, () => new Error()).catch(() => undefined);
    // A failure to open was reported by the call that opened it.
    (await database?.catch(() => undefined))?.close();
  }
}
