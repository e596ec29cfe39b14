import type { Endpoint } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery-records.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import type { StorageDriver } from '../../storage/drivers/driver.ts';
import type { OpfsModule } from '../../storage/opfs/opfs-module.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { Switchboard } from '../tabs/switchboard.ts';

/** Options of a lock request, as in the Web Locks API. */
export interface LockRequest {
  readonly signal?: AbortSignal;
  readonly ifAvailable?: boolean;
  readonly steal?: boolean;
}

/** The part of the Web Locks API in use. */
export interface Locks {
  request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

/** The part of BroadcastChannel in use. */
export interface Broadcast extends Endpoint {
  close(): void;
}

/** Events of the page. Each method returns a function that removes the listener. */
export interface PageLifecycle {
  /** Whether the page is hidden. The end of a hidden page may come without an event. */
  readonly isHidden: boolean;
  /** The page is hidden now. */
  onHidden(listener: () => void): () => void;
  /** The page ends, is frozen or enters the back/forward cache. May be called more than once for one end. */
  onLeft(listener: (mayReturn: boolean) => void): () => void;
  /** The page is resumed, or is back from the back/forward cache. */
  onReturned(listener: () => void): () => void;
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
  /** As {@link write}, to IndexedDB alone. */
  store(record: RecoveryRecord): boolean;
  /** Journals the record of a page that may live on: changes up to the first that the journal cannot hold. */
  journal(record: RecoveryRecord): void;
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
   * @returns whether the journal has all changes.
   */
  write(database: string, record: RecoveryRecord, isGapless?: boolean): boolean;
  read(database: string): readonly RecoveryRecord[];
  forget(database: string, left: readonly RecoveryKey[]): void;
  /** Removes all journals of a database. */
  clear(database: string): void;
  /** Called when another page has written a journal. Returns a function that removes the listener. */
  onWritten(database: string, listener: () => void): () => void;
}

/** The platform of an engine, passed in so that a simulation can replace it. */
export interface EnginePlatform {
  readonly clock: Clock;
  readonly locks: Locks;
  /** Whether the locks exclude other tabs. */
  readonly locked: boolean;
  /** Opens a channel to other tabs; `undefined` where there are none. */
  readonly broadcast: ((name: string) => Broadcast) | undefined;
  /** Makes a pair of ports. */
  readonly newPorts: () => MessageChannel;
  /** Storage that all tabs share; `undefined` where there is none. */
  readonly storage: StorageDriver | undefined;
  /** Loads the code of `storage: 'opfs'` from its text; `undefined` in a page, which has no files. */
  readonly loadOpfs?: (script: string) => Promise<OpfsModule>;
  /** Whether the thread is terminated when it hangs: that of a worker. */
  readonly terminable?: boolean;
  /** As the engine has it, unless it is given: a simulation has little data. */
  readonly checkpointAfter?: number;
}

/** The platform of a page and its clients. */
export interface Platform extends EnginePlatform {
  /** `undefined` without a page. */
  readonly page: PageLifecycle | undefined;
  readonly pageWriting: (database: string) => UnloadWriter;
  readonly journals: UnloadJournals;
  /** `undefined` where ports cannot reach other tabs, or are no faster. */
  readonly switchboard: Switchboard | undefined;
  /** A unique name for a client. The part before the dot names the page. */
  newClient(): string;
}

/** Whether all tabs share the database. */
export function isShared({ storage }: DatabaseSettings, platform: EnginePlatform): boolean {
  return storage !== 'memory' && typeof storage !== 'object' && platform.storage !== undefined;
}
