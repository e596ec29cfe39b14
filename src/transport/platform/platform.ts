import type { Endpoint } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery/recovery.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import type { StorageDriver } from '../../storage/drivers/driver.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { Switchboard } from '../tabs/switchboard.ts';

/** How a lock is asked for, as in the Web Locks API. */
export interface LockRequest {
  readonly signal?: AbortSignal;
  readonly ifAvailable?: boolean;
  readonly steal?: boolean;
}

/** What is used of the Web Locks API. */
export interface Locks {
  request(
    name: string,
    options: LockRequest,
    hold: (lock: unknown) => Promise<unknown> | undefined,
  ): Promise<unknown>;
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>;
}

/** What is used of a BroadcastChannel. */
export interface Broadcast extends Endpoint {
  close(): void;
}

/** Events of the page. Functions that are returned remove the listener. */
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
  /** Gets ready, so that records can be written at once. */
  prepare(): void;
  /**
   * Writes the record of a page that ends, before it returns, to both places as far as they take it.
   *
   * @returns whether one of them has all of it.
   */
  write(record: RecoveryRecord): boolean;
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
   * Writes a journal before it returns: as many changes as there is room for, the oldest first.
   *
   * @param isGapless Whether it ends before the first change that it cannot hold. A page that lives on may replay that
   *   one later, and must not find later ones made.
   * @returns whether the journal has all changes.
   */
  write(database: string, record: RecoveryRecord, isGapless?: boolean): boolean;
  read(database: string): readonly RecoveryRecord[];
  forget(database: string, left: readonly RecoveryKey[]): void;
  /** Another page has written one. Returns the function that ends the listening. */
  onWritten(database: string, listener: () => void): () => void;
}

/** What an engine stands on, given so that a simulation can stand in for it. */
export interface EnginePlatform {
  readonly clock: Clock;
  readonly locks: Locks;
  /** Whether the locks keep other tabs out. */
  readonly locked: boolean;
  /** Messages to other tabs; `undefined` where there are none. */
  readonly broadcast: ((name: string) => Broadcast) | undefined;
  /** A pair of ports. */
  readonly newPorts: () => MessageChannel;
  /** Storage that all tabs share; `undefined` where there is none. */
  readonly storage: StorageDriver | undefined;
}

/** What a page and its doors stand on. */
export interface Platform extends EnginePlatform {
  /** `undefined` where there is no page. */
  readonly page: PageLifecycle | undefined;
  readonly pageWriting: (database: string) => UnloadWriter;
  readonly journals: UnloadJournals;
  /** `undefined` where tabs cannot be given ports. */
  readonly switchboard: Switchboard | undefined;
  /** A name for a client that no other has, in any tab. What comes before the dot is common to the page. */
  newClient(): string;
}

/** Whether the database is one for all tabs. */
export function isShared({ storage }: DatabaseSettings, platform: EnginePlatform): boolean {
  return storage !== 'memory' && typeof storage !== 'object' && platform.storage !== undefined;
}
