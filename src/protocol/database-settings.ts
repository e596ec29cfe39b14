import type { Durability, StorageDriver } from '../storage/drivers/driver.ts';
import type { ClientEncryption, EngineEncryption } from './client-encryption.ts';
import type { ClientEvent, EngineStatus } from './event-protocol.ts';
import type { PartFiles, PartName } from './parts.ts';
import type { RecoveryKey, RecoveryRecord } from './recovery-records.ts';

/** A worker, or a function that makes one. */
export type WorkerSource = Worker | (() => Worker);

/** A database's name and storage. */
export interface DatabaseSettings {
  readonly name: string;
  /** Left out: IndexedDB where it exists, else memory. */
  readonly storage: 'indexeddb' | 'memory' | 'opfs' | StorageDriver | undefined;
  /** Parts to load at once. */
  readonly parts?: readonly PartName[] | undefined;
  readonly part_files?: PartFiles | undefined;
  /** Where to move the data before it is opened, with storage `opfs`. */
  readonly move_to?: 'opfs' | 'indexeddb' | undefined;
  /** How what is stored is encrypted, if it is. Stays in the page. */
  readonly encryption?: ClientEncryption | undefined;
  /** As {@link encryption}, for an engine in a worker. */
  readonly engine_encryption?: EngineEncryption | undefined;
  readonly durability: Durability;
  /** What a client does whose database was deleted from outside; by default it fails. */
  readonly on_deleted?: 'fail' | 'start_again' | undefined;
  /**
   * Whether a SharedWorker may bring a port to the leader's tab; `undefined` leaves it to the
   * client.
   */
  readonly shared_worker?: boolean | undefined;
  /** Milliseconds after which a query is reported as slow. */
  readonly slow_query_ms?: number | undefined;
}

/**
 * How the engine started: a worker from its file, from a Blob or from the caller; in this thread;
 * in another tab.
 */
export type Started = 'file' | 'inline' | 'given' | 'thread' | 'tab';

/** Where the engine runs. */
export interface EnginePlace {
  /** In this thread, in a worker of this page, or in another tab; `undefined` before it runs. */
  readonly engine: 'thread' | 'worker' | 'tab' | undefined;
  /**
   * A worker from its `file`, `inline` from a Blob, `given` by the caller; in this `thread`; in
   * another `tab`.
   */
  readonly started: Started | undefined;
  /** Whether this page is the leader: it runs the engine of the database. */
  readonly leader: boolean | undefined;
  /** The backups to targets outside of the browser that this page has begun, by `backupTo()`. */
  readonly backups?: readonly RemoteBackupStatus[];
  /**
   * `true` where the browser has evicted the data, until a backup or file is restored, or a new
   * backup is made elsewhere.
   */
  readonly storage_evicted?: boolean;
}

export function placeOf(started: Started, leader: boolean): EnginePlace {
  const engine = started === 'thread' || started === 'tab' ? started : 'worker';
  return { engine, started, leader };
}

/**
 * States of a client's channel: `idle ──▶ opening ──▶ open ──▶ closing ──▶ closed`, and from each
 * but the last to `failed`. A close whose save fails goes back to `open`, a channel whose code does
 * not load to `idle`. During a failover the channel is `opening` again; calls wait as they did the
 * first time.
 */
export type ChannelState = 'idle' | 'opening' | 'open' | 'closing' | 'closed' | 'failed';

/** What a channel tells its client of, and asks it. */
export interface ChannelObserver {
  readonly event: (event: ClientEvent) => void;
  readonly state: (state: ChannelState) => void;
  /** Whether the client waits for its calls, to close. */
  readonly isClosing: () => boolean;
}

/** The status before an engine has reported any. */
export const UNKNOWN_STATUS: EngineStatus = {
  storage: undefined,
  tabs: 0,
  unsaved: 0,
  unsaved_since: undefined,
  last_save: undefined,
  parts: [],
  last_error: undefined,
};

/** Where the backups to a target stand. */
export interface RemoteBackupStatus {
  /** `idle` until the next run, in this tab or in the leader's. */
  readonly state: 'idle' | 'running' | 'stopped';
  /** Where the target is, without credentials; `undefined` where it does not say. */
  readonly target: string | undefined;
  /** The name of this device in the target. */
  readonly device: string;
  /** When the last run of this page ended without an error. */
  readonly last_run: Date | undefined;
  /**
   * When this page checks next whether a backup is due; `undefined` where another tab does, or
   * nothing is scheduled.
   */
  readonly next_run: Date | undefined;
  /** The failure of the last run, until one succeeds. */
  readonly last_error: Error | undefined;
}

export interface LeadershipTerm {
  /** Unique name of this term. */
  readonly leader: string;
  /** Whether a lock excludes other leaders. */
  readonly locked: boolean;
  /** Whether the lock was stolen from a silent leader, which may wake up. */
  readonly stolen: boolean;
  /** Unload journals of pages that ended. */
  readonly journals: readonly RecoveryRecord[];
  /** Clients that are alive and may have changes to replay. */
  readonly expected: readonly string[];
}

/** A term whose journals and clients are still being read. */
export interface PendingTerm extends Omit<LeadershipTerm, 'journals' | 'expected'> {
  readonly journals: Promise<LeadershipTerm['journals']>;
  readonly expected: Promise<LeadershipTerm['expected']>;
}

/** Events of an engine for its page. */
export interface TermEvents {
  /** Another leader has taken over. */
  readonly superseded: () => void;
  /** The changes of these recovery records and journals are saved. */
  readonly recovered: (keys: readonly RecoveryKey[]) => void;
  /** Brings a port to another tab: only a page can. */
  readonly bring: (address: string, port: MessagePort) => void;
}
