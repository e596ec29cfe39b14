import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery-records.ts';

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
  /** While it cannot write, settles when that may have changed; until then a change is acknowledged once it is saved. */
  readonly pending?: Promise<void> | undefined;
  /**
   * Does for changes what takes time, before they are acknowledged; left out where nothing does. Must not be called while
   * `pending`.
   */
  readonly seal?: ((record: RecoveryRecord) => Promise<void>) | undefined;
  /**
   * Journals the record of a page that may live on: changes up to the first that the journal cannot hold. The record must
   * have all unsaved changes: earlier journals are removed once this one has theirs.
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
   * @param isGapless Whether the journal ends before the first change that does not fit. A page that lives on may replay
   *   that change itself, and later ones must not be applied before it.
   * @returns how many changes the journal has.
   */
  write(database: string, record: RecoveryRecord, isGapless?: boolean): number;
  read(database: string): readonly RecoveryRecord[];
  forget(database: string, left: readonly RecoveryKey[]): void;
  /** Removes all journals of a database. */
  clear(database: string): void;
  /** Called when another page has written a journal. Returns a function that removes the listener. */
  onWritten(database: string, listener: () => void): () => void;
}
