import type { ClientStatus, EventName, Listener } from '../../api/events.ts';
import type { DatabaseStorage } from '../../api/options/client-options.ts';
import type { TransactionOptions } from '../../api/transaction-options.ts';
import type { CollectionInfo } from '../../backup/usage.ts';
import type { FileSource, ImportOptions } from '../calls/file-bytes.ts';
import type { CollectionConstructor } from '../collections/collection-constructor.ts';
import type { Transaction } from '../transactions/transaction-types.ts';

/**
 * A client of a database: {@link Database} with the engine in this thread, or `connect()` with it
 * in a worker.
 */
export interface DatabaseClient {
  readonly name: string;
  /**
   * Makes a collection, or opens it if it exists. Usable at once; calls wait until it is open.
   *
   * @throws {OptionError} with the invalid option; {CollectionError} `type_mismatch`.
   */
  readonly Collection: CollectionConstructor;
  readonly status: ClientStatus;
  /** The browser's storage: persistence, quota, use. */
  readonly storage: DatabaseStorage;
  /** Resolves when the engine runs and storage is open; starts them. */
  readonly ready: Promise<void>;
  /** Listens to an event. @returns a function that removes the listener. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /**
   * Changes several documents, in several collections, all or none. Reads see one snapshot of all
   * collections and the transaction's own changes. The function may await anything: nobody waits
   * for it.
   *
   * If others have changed what it read, the function runs again, so its side effects must bear
   * repetition. If it throws, nothing is changed.
   *
   * @param run Makes the changes by `tx(collection)`; not by the collection, whose calls are
   *   outside of the transaction. It must await every call.
   * @returns what the function returns.
   * @throws {TransactionError} `transaction_conflict` after too many conflicts;
   *   `transaction_too_large`, `transaction_expired`, `transaction_misused`; {ValueError}
   *   `unique_violation`; or what the function throws.
   *
   * @example
   * ```ts
   * const left = await db.transaction(async (tx) => {
   *   const book = await tx(stock).get('book');
   *   if (!book?.left) throw new Error('Sold out');
   *   await tx(orders).insert({ item: 'book' });
   *   await tx(stock).patch('book', { left: book.left - 1 });
   *   return book.left - 1;
   * });
   * ```
   */
  transaction<T>(
    run: (tx: Transaction) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
  /**
   * Exports all collections, each as of now, as one file: gzip, one line of JSON per document. The
   * stream is lazy, at any size. A collection that is dropped before its turn is left out; one that
   * is dropped or renamed at its turn is in the file, up to some 64 MB of it.
   *
   * @throws {StorageError} if a collection cannot be read; {CollectionError} from the stream:
   *   `collection_dropped`, in the middle of a larger one; `collection_renamed`.
   */
  exportAll(): Promise<ReadableStream<Uint8Array>>;
  /**
   * Imports a file of `exportAll()` or `exportBackup()` into the collections that it names, all or
   * nothing. Their old content becomes a backup of each; other collections stay unchanged. A stream
   * is cancelled when the call rejects.
   *
   * @returns the number of imported documents.
   * @throws {BackupError} for another, truncated, damaged or newer file; nothing is changed.
   */
  importAll(file: FileSource, options?: ImportOptions): Promise<number>;
  /**
   * Lists all collections, by name: those that nobody has opened, too. Counts the latter by reading
   * their keys.
   *
   * @throws {StorageError} if storage cannot be read.
   *
   * @example
   * ```ts
   * const names = (await db.collections()).map(({ name }) => name);
   * ```
   */
  collections(): Promise<readonly CollectionInfo[]>;
  /**
   * Gives a collection another name, with its backups and what replication knows of it. All or
   * nothing, also if the tab ends meanwhile. Handles and live queries of the old name, in all tabs,
   * then reject with `collection_renamed`: construct it by the new name. Takes as long as copying
   * its data.
   *
   * @param to A name that no collection has, and that nothing has constructed yet.
   * @throws {OptionError} for a name that none can have, or the same one; {CollectionError}
   *   `collection_missing`, `name_taken`, `answer_lost` where the tab that leads ended meanwhile;
   *   {StorageError} if storage fails.
   */
  renameCollection(from: string, to: string): Promise<void>;
  /**
   * Deletes the whole database, in storage and in all tabs, with backups, unsaved changes and
   * unload journals: one call to wipe on logout. It needs no option, and saves nothing. This client
   * and those of other tabs are at their end: calls and live queries reject with
   * `database_destroyed`. Connect again to start with an empty database. May be repeated.
   *
   * @throws {StorageError} `database_busy` where something outside of Cairn has the database open:
   *   all data is deleted, and the empty database goes when that closes it. Other codes where
   *   storage fails: then call it again.
   *
   * @example
   * ```ts no-run
   * await db.destroy();
   * location.replace('/login');
   * ```
   */
  destroy(): Promise<void>;
  /** Resolves when all changes so far, in all collections, are in storage. */
  save(): Promise<void>;
  /**
   * Saves, then releases everything; later calls reject. If the save fails, `close()` rejects and
   * the client stays open, so that nothing is lost. Closing soon after a bulk insert writes index
   * pages too, for the next visit's first answers: some 0.3 s for 100,000 documents.
   */
  close(): Promise<void>;
}
