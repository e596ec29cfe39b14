import type { CairnError } from '../errors/errors.ts';
import type { LiveDetail } from './live-protocol.ts';
import type { PartName } from './parts.ts';
import type { ReplicaReport } from './replica-protocol.ts';

/** The changes of a batch in a collection. */
export interface Change {
  /** The document's id, or the record of a key-value collection. */
  readonly id: string;
  readonly kind: 'insert' | 'update' | 'archive' | 'unarchive' | 'delete' | 'set';
}

/** What an engine says of itself. */
export interface EngineStatus {
  /** The storage in use: `indexeddb`, `opfs`, `memory`, or what a driver calls itself. */
  readonly storage: string | undefined;
  /** Why it is another storage than requested; `undefined` if it is not. */
  readonly storage_reason?: string | undefined;
  /** Whether everything stored is encrypted; `undefined` before the engine runs. */
  readonly encrypted?: boolean | undefined;
  /** Pages and threads that use the database now. */
  readonly tabs: number;
  /** Changes that are not in storage yet, of all collections. */
  readonly unsaved: number;
  /** When the oldest of them was made. */
  readonly unsaved_since: Date | undefined;
  readonly last_save: Date | undefined;
  /**
   * The last failure, until the next save succeeds; while the state is `failed` or `opening`, why.
   */
  readonly last_error: CairnError | undefined;
  /**
   * The parts of the engine that are loaded, as `backups` or `transactions`. A part loads when a
   * call first needs it.
   */
  readonly parts: readonly PartName[];
}

/** What an engine tells without being asked, by name. */
export interface EngineEvents {
  /** Something in the status changed. */
  status: EngineStatus;
  /** Documents changed: once for each batch of calls. */
  change: { readonly collection: string; readonly changes: readonly Change[] };
  /** A save succeeded. */
  save: { readonly collection: string; readonly changes: number; readonly at: Date };
  /**
   * Indexes of a collection are being built from documents that were there before; done at the
   * total.
   */
  index: {
    readonly collection: string;
    readonly documents: number;
    readonly total: number;
  };
  /** A backup or a file has replaced all records of a collection. */
  restore: {
    readonly collection: string;
    /** Left out where it came from a file. */
    readonly backup: string | undefined;
    readonly documents: number;
  };
  /** The documents of a collection are being migrated to a newer version of the app's code. */
  migration: {
    readonly collection: string;
    /** The version that they have. */
    readonly from: number;
    /** The version that they get. */
    readonly to: number;
    /** Documents so far. */
    readonly done: number;
    readonly total: number;
    /**
     * The backup of the documents as they were: `loadBackup()` of it undoes the migration. Left out
     * until the migrated documents are in place, all at once; from then on calls of older code
     * reject with `schema_newer`.
     */
    readonly backup: string | undefined;
  };
  /** The replication of a collection has got further, or has something to do. */
  replication: ReplicaReport;
  /** A save failed and will be tried again, or stored data is damaged. */
  error: { readonly collection: string | undefined; readonly error: CairnError };
}

/** What an engine tells every client. */
export type ClientEvent = {
  [Name in keyof EngineEvents]: { readonly type: Name; readonly detail: EngineEvents[Name] };
}[keyof EngineEvents];

/** News of a live query, for the client that reads it. */
export interface LiveEvent {
  readonly type: 'live';
  readonly detail: LiveDetail;
}

/**
 * Which of a session's changes of a collection are settled: in storage, or without anything left to
 * store.
 */
interface ReleasedEvent {
  readonly type: 'released';
  readonly detail: {
    readonly handle: number;
    /**
     * All of the client's changes through the handle up to this one. Negative: its collection was
     * dropped or renamed.
     */
    readonly number: number;
    /** But for these. */
    readonly missed?: readonly number[] | undefined;
  };
}

export type EngineEvent = ClientEvent | LiveEvent | ReleasedEvent;
