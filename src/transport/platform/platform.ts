import type { Endpoint } from 'comlink';
import type { RecoveryKey, RecoveryRecord } from '../../engine/recovery.ts';
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

/** What becomes of the page. Functions that are returned end the listening. */
export interface PageLifecycle {
  /** It may never be seen again. */
  onHidden(listener: () => void): () => void;
  /** It ends, or rests for as long as the user may come back to it. May be told more than once. */
  onLeft(listener: (mayReturn: boolean) => void): () => void;
  /** It is back. */
  onReturned(listener: () => void): () => void;
}

/** What a page writes when it is hidden or ends. */
export interface UnloadWriter {
  /** Gets ready, so that {@link write} can be done at once. */
  prepare(): void;
  /** Writes in this very turn what the page does not know to be saved, if it is ready to. */
  write(left: RecoveryRecord): boolean;
  /** As above, where the page may well live on: only what holds any number of changes. */
  store(left: RecoveryRecord): boolean;
  /** All that was written is saved, and the page lives on. */
  forget(): void;
  close(): void;
}

/** What pages write when they end, outside of storage. */
export interface UnloadJournals {
  /** Writes in this very turn as much as there is room for, the oldest changes first. Returns whether it is all. */
  write(database: string, left: RecoveryRecord): boolean;
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
