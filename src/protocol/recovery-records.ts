import type { Durability } from '../storage/drivers/driver.ts';
import type { FencedStorage } from '../storage/fenced-storage.ts';
import type { AcknowledgedChange, OpenedHandles } from './requests.ts';

/** The changes of a page that ended before it knew them to be durable. */
export interface RecoveryRecord {
  readonly client: string;
  /** Counts how often the page was hidden or ended. */
  readonly ending: number;
  /** The id of the database; left out by a page that had not reached any. */
  readonly database?: string | undefined;
  /** The collections that the changes are about. */
  readonly opened: OpenedHandles;
  readonly changes: readonly AcknowledgedChange[];
}

export type RecoveryKey = readonly [client: string, ending: number];

/** Where pages that ended wrote their changes: recovery records in storage, and unload journals. */
export class RecoveryRecords {
  readonly #storage: FencedStorage;
  readonly #durability: Durability;
  readonly #forgotten: (keys: readonly RecoveryKey[]) => void;
  /** The unload journals that are not durable yet. */
  #journals: Promise<readonly RecoveryRecord[]>;

  /**
   * @param forgotten Called with the keys of records whose changes are durable: their journals can
   *   go.
   */
  constructor(
    storage: FencedStorage,
    durability: Durability,
    journals: Promise<readonly RecoveryRecord[]>,
    forgotten: (keys: readonly RecoveryKey[]) => void,
  ) {
    this.#storage = storage;
    this.#durability = durability;
    this.#journals = journals;
    this.#forgotten = forgotten;
  }

  /** A further page has ended; these are the journals there are now. */
  setJournals(journals: readonly RecoveryRecord[]): void {
    this.#journals = Promise.resolve(journals);
  }

  /** Most pages write both; the one with fewer changes is left out. */
  async list(): Promise<readonly RecoveryRecord[]> {
    const stored = (await this.#storage.left()) as RecoveryRecord[];
    const longest = new Map<string, RecoveryRecord>();
    for (const one of [...stored, ...(await this.#journals)]) {
      const key = JSON.stringify([one.client, one.ending]);
      const other = longest.get(key);
      if (!other || other.changes.length < one.changes.length) longest.set(key, one);
    }
    return [...longest.values()];
  }

  /** Removes records. Their changes must be saved. */
  async forget(keys: readonly RecoveryKey[]): Promise<void> {
    await this.#storage.forget(keys, this.#durability);
    const isForgotten = (one: RecoveryRecord) => keys.some((key) => hasKey(one, key));
    this.#journals = this.#journals.then((all) => all.filter((one) => !isForgotten(one)));
    this.#forgotten(keys);
  }
}

function hasKey(record: RecoveryRecord, [client, ending]: RecoveryKey): boolean {
  return client === record.client && ending === record.ending;
}

/** Writes recovery records when a page is hidden or ends, to IndexedDB and to an unload journal. */
export interface UnloadWriter {
  /** Prepares, so that later records are written at once. */
  prepare(): void;
  /**
   * Writes the record of a page that ends, synchronously, to IndexedDB and the unload journal.
   *
   * @param prefersJournal Whether to leave IndexedDB out if the journal has all changes.
   * @returns whether one of them has all changes.
   */
  write(record: RecoveryRecord, prefersJournal?: boolean): boolean;
  /** Gets ready what takes time, once the engine is open. */
  begin?(): void;
  /**
   * While it cannot write, settles when that may have changed; until then a change is acknowledged
   * once it is saved.
   */
  readonly pending?: Promise<void> | undefined;
  /**
   * Does for changes what takes time, before they are acknowledged; left out where nothing does.
   * Must not be called while `pending`.
   */
  readonly seal?: ((record: RecoveryRecord) => Promise<void>) | undefined;
  /**
   * Journals the record of a page that may live on: changes up to the first that the journal cannot
   * hold. The record must have all unsaved changes: earlier journals are removed once this one has
   * theirs.
   */
  journal(record: RecoveryRecord): void;
  /** Writes the record of a page that may live on to IndexedDB, without gaps as {@link journal}. */
  store(record: RecoveryRecord): boolean;
  /** Removes the records: all of their changes are saved. */
  forget(): void;
  close(): void;
}

/** The unload journals of pages, outside of IndexedDB. */
export interface UnloadJournals {
  /**
   * Writes a journal synchronously: as many changes as fit, the oldest first.
   *
   * @param isGapless Whether the journal ends before the first change that does not fit. A page
   *   that lives on may replay that change itself, and later ones must not be applied before it.
   * @returns how many changes the journal has.
   */
  write(database: string, record: RecoveryRecord, isGapless?: boolean): number;
  read(database: string): readonly RecoveryRecord[];
  forget(database: string, left: readonly RecoveryKey[]): void;
  clear(database: string): void;
  /**
   * Called when another page has written a journal. Returns a function that removes the listener.
   */
  onWritten(database: string, listener: () => void): () => void;
}
