import { type IDBPDatabase, openDB, unwrap } from 'idb';
import { holdStore } from '../../platform/page-store.ts';
import type { RecoveryKey, RecoveryRecord, UnloadWriter } from '../../protocol/recovery-records.ts';
import type { AcknowledgedChange } from '../../protocol/requests.ts';
import { databaseName } from '../../storage/drivers/indexeddb-connection.ts';
import { unloadJournals } from './unload-journal.ts';

export interface RecordForm {
  /** The value to store. */
  readonly value: object;
  /** Whether the value has all changes. */
  readonly isWhole: boolean;
  /** Whether the text of the journal is made already. */
  readonly isText: boolean;
  /** Writes it as an unload journal. @returns how many changes the journal has for sure. */
  journal(database: string): number;
}

/** An unload journal that may still be in `localStorage`. */
interface Journal {
  readonly key: RecoveryKey;
  /** Left out for a page that seemed to end, whose journal may have calls in flight. */
  changes?: readonly AcknowledgedChange[];
}

/** How the records of an encrypted database are written. */
export interface RecordSealing {
  /** Gets ready what seals, behind the first answers of an opening. */
  prepare(): void;
  /** As {@link UnloadWriter.pending}. */
  readonly pending: Promise<void> | undefined;
  /** As {@link UnloadWriter.seal}. */
  seal(record: RecoveryRecord): Promise<void>;
  /** The forms of a record to write one after the other: what takes time comes last. */
  forms(record: RecoveryRecord, isGapless: boolean): Iterable<RecordForm>;
}

/**
 * Writes the unsaved changes of a page that is hidden or ends; the next leader replays them. A
 * worker is too late for this: 500 documents were saved by the worker in 0 of 12 pages, by the page
 * itself in 18 of 18.
 *
 * Neither store is reliable alone. A record in IndexedDB, over a connection that is open already,
 * holds any number of changes, but WebKit aborts its transaction with the page, Chromium when it
 * quits, and in Firefox and WebKit it waits for the worker's write. A journal in `localStorage`
 * always arrives, but has little room.
 */
export class PageUnloadWriter implements UnloadWriter {
  readonly seal: UnloadWriter['seal'];
  readonly #database: string;
  readonly #sealing: RecordSealing | undefined;
  #opening: Promise<void> | undefined;
  #connection: IDBPDatabase | undefined;
  /** Counts attempts to open it: the connection of an earlier one must not stay open. */
  #attempt = 0;
  /** Written records that may still be in storage. */
  #stored: RecoveryKey[] = [];
  #journaled: Journal[] = [];

  constructor(database: string, sealing?: RecordSealing) {
    this.#database = database;
    this.#sealing = sealing;
    this.seal = sealing && ((record) => sealing.seal(record));
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
    const key = keyOf(record);
    this.#journaled.push({ key });
    let isWritten = false;
    let last: RecordForm | undefined;
    for (const form of this.#forms(record, false)) {
      const store = () => this.#store(key, form);
      const journal = () => form.journal(this.#database) === record.changes.length;
      if (prefersJournal) isWritten = journal();
      // The faster first: Firefox may end this script anywhere, and the journal goes to another
      // process.
      else isWritten = (form.isText ? [journal(), store()] : [store(), journal()]).includes(true);
      last = form;
    }
    if (!prefersJournal || isWritten || !last) return isWritten;
    return this.#store(key, last);
  }

  store(record: RecoveryRecord): boolean {
    let isStored = false;
    for (const form of this.#forms(record, true)) isStored = this.#store(keyOf(record), form);
    return isStored;
  }

  journal(record: RecoveryRecord): void {
    const { changes } = record;
    const earlier = [...this.#journaled];
    const journal: Journal = { key: keyOf(record) };
    this.#journaled.push(journal);
    let count = 0;
    for (const form of this.#forms(record, true))
      count = Math.max(count, form.journal(this.#database));
    journal.changes = changes.slice(0, count);
    this.#forgetCovered(earlier, new Set(changes.slice(count)));
  }

  /**
   * Removes the earlier journals whose unsaved changes the newest has, too: while saves fail, a
   * page that is hidden again and again would fill `localStorage`.
   *
   * @param missing The unsaved changes that the newest journal does not have.
   */
  #forgetCovered(earlier: readonly Journal[], missing: ReadonlySet<AcknowledgedChange>): void {
    const isCovered = ({ changes }: Journal) =>
      missing.size === 0 || changes?.some((one) => missing.has(one)) === false;
    const covered = earlier.filter(isCovered);
    if (covered.length === 0) return;
    this.#journaled = this.#journaled.filter((one) => !covered.includes(one));
    this.#forgetJournals(covered);
  }

  #forgetJournals(journals: readonly Journal[]): void {
    const keys = journals.map(({ key }) => key);
    unloadJournals.forget(this.#database, keys);
  }

  forget(): void {
    const [stored, journaled] = [this.#stored.splice(0), this.#journaled.splice(0)];
    if (journaled.length > 0) this.#forgetJournals(journaled);
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

  *#forms(record: RecoveryRecord, isGapless: boolean): Iterable<RecordForm> {
    if (!this.#sealing) {
      const journal = (database: string) => unloadJournals.write(database, record, isGapless);
      yield { value: record, isWhole: true, isText: false, journal };
    } else if (!this.pending) yield* this.#sealing.forms(record, isGapless);
  }

  #store(key: RecoveryKey, { value, isWhole }: RecordForm): boolean {
    const isStored = this.#change((records) => records.put(value, [...key]));
    if (isStored) this.#stored.push(key);
    return isStored && isWhole;
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
    holdStore();
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

function keyOf({ client, ending }: RecoveryRecord): RecoveryKey {
  return [client, ending];
}
