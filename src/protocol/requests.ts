import type { CollectionInfo, CollectionUsage } from '../backup/usage.ts';
import type { Body, DecodedBody } from '../codec/body.ts';
import type { KeyColumns } from '../query/index/index-key.ts';
import type { Plan, UnfitIndex } from '../query/plan/plan.ts';
import type { Stamps, StoredRecord } from '../storage/segments/stored-record.ts';
import { BACKUP_OPERATIONS, type BackupOperations, type BackupRead } from './backup-protocol.ts';
import { KEY_VALUE_OPERATIONS, type KeyValueOperations } from './key-value-protocol.ts';
import { type AggregateAsk, LIVE_OPERATIONS, type LiveOperations } from './live-protocol.ts';
import type { ManagedColumns } from './managed.ts';
import {
  ANY_VERSION,
  COMPARED,
  EDITS,
  FIRST_READ,
  HOLDS_QUEUE,
  IN_UPDATES,
  READING_EDIT,
  READS,
  WAITS,
} from './operation-kinds.ts';
import type { PartName } from './parts.ts';
import type { IncludedReply, RelatedAsk, RelationPlan } from './relation-protocol.ts';
import { REPLICA_OPERATIONS, type ReplicaOperations } from './replica-protocol.ts';
import type { CollectionSettings } from './settings.ts';

/** Managed values of a document in a reply: id, flags, stamps. */
export type ManagedReply = readonly [key: string, flags: number, stamps?: Stamps];

/** A document in a reply. */
export type RecordReply = readonly [
  key: string,
  flags: number,
  stamps: Stamps | undefined,
  body: Body | DecodedBody,
];

/** A chunk of a scan. */
export interface ScanReply extends ManagedColumns {
  readonly ranks: Float64Array;
  readonly bodies: readonly (Body | DecodedBody)[];
  /** Whether bodies are projected documents, managed fields included. */
  readonly whole: boolean;
  /** Whether documents are in the order of the result, not of `ranks`. */
  readonly sorted: boolean;
  /** Unless sorted: no later document has a lower rank. */
  readonly floor: number;
  /** With a limit: sort key and rank of the last document of the result. */
  readonly end?: { readonly key: unknown; readonly rank: number } | undefined;
  /** The cursor of the next chunk, `undefined` at the end. */
  readonly cursor: number | undefined;
  /** The documents of a request with `shared`, in the place of all other columns than `ranks`. */
  readonly shared?: FoundVersions | SentVersions | undefined;
  /** The partners of the documents, for each include. */
  readonly included?: readonly IncludedReply[] | undefined;
}

/** Whether archived documents count. */
export type ArchivedFilter = boolean | 'only';

/** The document before a page. */
export interface After {
  readonly id: string;
  /** Its rank, if known; else the document must still exist. */
  readonly rank?: number | undefined;
  /** Its sort key, if known. */
  readonly key?: unknown;
  /** Else what it has of its fields. */
  readonly body?: Body | undefined;
}

/** The engine's part of a query. */
export interface Selection {
  /** Criteria of the query; all documents when left out. */
  readonly criteria?: object | undefined;
  readonly archived: ArchivedFilter;
  /** The sort order; insertion order when left out. */
  readonly sort?: object | undefined;
  /** The order of strings, as `parseCollation` writes it; that of code units when left out. */
  readonly collation?: string | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  /** Paths to select. */
  readonly select?: object | undefined;
  /** The last document of the previous page. */
  readonly after?: After | undefined;
  /** Whether the caller reads to the end. */
  readonly all?: boolean;
  /** Number by which the call can be aborted. */
  readonly call?: number | undefined;
  readonly mayHang?: RequestFlags['mayHang'];
  readonly needs?: RequestFlags['needs'];
  readonly related?: RequestFlags['related'];
  /** The time that `$$NOW` stands for; the engine's own when left out. */
  readonly now?: RequestFlags['now'];
  /** Requests documents as versions. Not with `select`. */
  readonly shared?: SharedAsk | undefined;
}

/** How to send a request. A request with a flag travels in a batch of its own. */
export interface RequestFlags {
  /** Its criteria have a pattern, which may never end. The reply comes after its last match. */
  readonly mayHang?: true | undefined;
  /** The code that it needs beside its operation's. */
  readonly needs?: readonly PartName[] | undefined;
  /** It belongs to a running call, and never queues behind later ones. */
  readonly urgent?: true | undefined;
  /** It replaces or removes data, and is never retried: others may have stored data since. */
  readonly once?: true | undefined;
  /** Time of the change in Unix milliseconds, where an earlier engine has acknowledged it. */
  readonly now?: number | undefined;
  /**
   * The client's number of the transaction that it belongs to: it reads a snapshot, and its changes
   * are staged.
   */
  readonly transaction?: number | undefined;
  /** Of a read: the backup that it asks instead of the collection. */
  readonly at?: BackupRead | undefined;
  /** Of a read: what it asks of other collections. */
  readonly related?: RelatedAsk | undefined;
}

/** The managed values that a document keeps, where a change would give it new ones. */
interface KeptManaged {
  readonly flags: number;
  readonly stamps: Stamps | undefined;
}

/** The plan of a query, with its costs in the engine. */
export interface Explained {
  readonly plan: Plan;
  /** The indexes that cannot serve it, and why; left out where all can. */
  readonly unfit?: readonly UnfitIndex[] | undefined;
  /** Of a query with relations, or a pipeline with `$lookup`: how their documents were found. */
  readonly relations?: readonly RelationPlan[] | undefined;
  /** Of a pipeline. */
  readonly stages?: readonly ExplainedStage[] | undefined;
  /** Index keys examined. */
  readonly keys_examined: number;
  /** Documents examined. */
  readonly documents_examined: number;
  readonly returned: number;
  /** Milliseconds in the engine, without delivery. */
  readonly engine_ms: number;
}

/** How a stage of a pipeline is answered. */
export interface ExplainedStage {
  /** Its name, such as `$match`. */
  readonly stage: string;
  /** Whether `plan` answers it; else it goes over documents. */
  readonly planned: boolean;
  /**
   * In `liveAggregate()`: whether it takes in a change by what differs, or runs again over what the
   * stages before it have made.
   */
  readonly live: 'differences' | 'again';
}

/** A document in a reply, with the version of its record. */
export interface VersionedReply {
  readonly record: RecordReply;
  readonly version: number;
}

/** The sequence number of a change among those through one handle. */
type HandleNumber = readonly [handle: number, number: number];

/** The outcome of a commit. */
export type CommitReply =
  | 'committed'
  /** Others have changed what the transaction has read. */
  | 'conflict'
  /** The engine has not got its snapshot: it belongs to a lost engine. */
  | 'lost';

/** The operations of a transaction as a whole; their handle is `DATABASE`. */
interface TransactionOperations {
  /** Makes the staged changes, all or none. */
  commit: {
    ask: {
      readonly transaction: number;
      /**
       * The requests that staged them, with the ids and times of their replies: another engine
       * replays them.
       */
      readonly changes: readonly Request[];
      /**
       * The sequence number of the transaction in each handle that it changes. The client adds them
       * when it sends.
       */
      readonly numbers: HandleNumber[];
    };
    reply: CommitReply;
  };
  /** Discards them. */
  rollback: { ask: { readonly transaction: number }; reply: undefined };
}

/** The changes of a document: fields to set, or update operators. */
export interface RequestedChanges {
  readonly changes: Body;
  /** Filters of items, by the names that paths give them: `$[name]`. */
  readonly filters?: readonly object[] | undefined;
}

/** What a patch says of its changes. */
export type RequestedPatch = RequestedChanges & Pick<Selection, 'collation'>;

/** A replacement may be what the page has made of a patch, as where a schema checks it. */
interface Patched {
  readonly patch?: RequestedPatch | undefined;
}

/** A changed document, and the time of the change in Unix milliseconds. */
interface ChangedReply {
  readonly record: RecordReply;
  readonly now: number;
}

/** Every operation, with its request and reply. */
export interface Operations
  extends LiveOperations,
    BackupOperations,
    DatabaseOperations,
    KeyValueOperations,
    ReplicaOperations,
    SharedOperations,
    TransactionOperations {
  /**
   * Opens the collection under the handle. Every other operation waits for it. Replies how often
   * collections of the name have ended; the complement of that, which is negative, if the documents
   * have to be migrated before the handle can use them.
   */
  open: { ask: { settings: CollectionSettings }; reply: number };
  /** Loads a cached collection into memory. */
  ready: { ask: object; reply: undefined };
  save: { ask: object; reply: undefined };
  drop: {
    /** With `backup`, a backup stays. */
    ask: { backup?: boolean };
    reply: true;
  };
  count: { ask: Partial<Selection>; reply: number };

  insert: { ask: { id?: string | undefined; body: Body }; reply: ManagedReply };
  /**
   * A part of an `insertMany`, which takes effect with the last. All parts have the same `call`.
   */
  insertPart: {
    ask: Patched & {
      call: number;
      /** Number of documents in earlier parts. */
      from: number;
      ids?: (string | undefined)[] | undefined;
      bodies: Body[];
      /**
       * The index keys of the documents, for an engine that has the same indexes: it need not
       * decode the bodies.
       */
      indexKeys?: KeyColumns | undefined;
      last: boolean;
      /**
       * Whether documents whose id is taken replace the others. The reply to the last part then
       * covers all of them.
       */
      upsert?: boolean | undefined;
    };
    /** With the time of the call in Unix milliseconds. */
    reply: ManagedColumns & { readonly now: number };
  };
  /** Discards the parts of an `insertMany`: a later part could not be encoded. */
  insertAbandon: { ask: { call: number }; reply: undefined };
  upsert: {
    ask: { id?: string | undefined; body: Body; kept?: KeptManaged | undefined };
    reply: ManagedReply;
  };
  update: { ask: Patched & { id: string; body: Body }; reply: ManagedReply | undefined };
  patch: {
    /** With the criteria that have found the document, where its position in an array counts. */
    ask: RequestedChanges & { id: string } & Pick<Selection, 'criteria' | 'collation'>;
    reply: ChangedReply | undefined;
  };
  /** Patches the first match, or the document with the id; or else inserts one. */
  patchOne: {
    ask: RequestedChanges &
      Partial<Selection> & { id?: string | undefined; upsert?: boolean | undefined };
    reply: (ChangedReply & { readonly isInserted: boolean }) | undefined;
  };
  /** Replies with the time in Unix milliseconds, `false` if it was archived already. */
  archive: { ask: { id: string }; reply: number | false };
  unarchive: { ask: { id: string }; reply: number | false };
  delete: { ask: { id: string }; reply: boolean };
  patchMany: {
    ask: RequestedChanges & Partial<Selection> & { ids?: string[] | undefined };
    reply: { readonly count: number; readonly now: number };
  };
  /** Replaces a document unless its record has another version by now; `false` then. */
  replaceIf: {
    ask: Patched & { id: string; body: Body; version: number };
    reply: ManagedReply | false;
  };
  deleteMany: { ask: Partial<Selection> & { ids?: string[] | undefined }; reply: number };
  /** Deletes the first match. */
  deleteOne: { ask: Partial<Selection>; reply: RecordReply | undefined };
  get: { ask: { id: string }; reply: RecordReply | undefined };
  getMany: { ask: { ids: string[] }; reply: (RecordReply | undefined)[] };
  /**
   * With `changes`, the document as a patch would make it, or an upsert by criteria where there is
   * none; nothing is stored.
   */
  getVersion: {
    ask: Partial<RequestedChanges> &
      Pick<Selection, 'criteria' | 'collation'> & {
        id?: string | undefined;
        upsert?: boolean | undefined;
      };
    reply: VersionedReply | undefined;
  };
  explain: { ask: Selection & Partial<Pick<AggregateAsk, 'pipeline'>>; reply: Explained };
  /** Aborts a running call. */
  abort: { ask: { call: number }; reply: undefined };
  scan: { ask: Selection; reply: ScanReply };
  /** Its result continues as that of a scan. */
  aggregate: { ask: AggregateAsk; reply: ScanReply };
  scanNext: {
    ask: { cursor: number; call?: number | undefined; shared?: SharedAsk | undefined };
    reply: ScanReply;
  };
  scanEnd: { ask: { cursor: number }; reply: undefined };
}

/**
 * What each operation does. One without a property is executed as it comes, and waits by itself.
 */
export const OPERATIONS: Readonly<Record<OperationName, number>> = {
  ...KEY_VALUE_OPERATIONS,
  ...LIVE_OPERATIONS,
  ...BACKUP_OPERATIONS,
  ...REPLICA_OPERATIONS,
  open: HOLDS_QUEUE | ANY_VERSION,
  ready: WAITS,
  save: WAITS,
  drop: HOLDS_QUEUE | WAITS,
  rename: HOLDS_QUEUE | WAITS,
  abort: 0,
  collections: WAITS,
  usage: WAITS,
  exportAll: WAITS,
  importAll: HOLDS_QUEUE | WAITS,
  commit: 0,
  rollback: 0,
  get: READS | FIRST_READ,
  getMany: READS | FIRST_READ,
  getShared: READS,
  getVersion: READS | IN_UPDATES,
  scan: READS | FIRST_READ,
  scanNext: READS,
  scanEnd: READS | ANY_VERSION,
  count: READS | FIRST_READ,
  aggregate: READS | FIRST_READ,
  explain: READS,
  insert: EDITS,
  insertPart: EDITS,
  insertAbandon: ANY_VERSION,
  upsert: EDITS,
  update: EDITS,
  replaceIf: EDITS | COMPARED | IN_UPDATES,
  delete: EDITS,
  patch: READING_EDIT | IN_UPDATES,
  patchMany: READING_EDIT | IN_UPDATES,
  patchOne: READING_EDIT | IN_UPDATES,
  archive: READING_EDIT | IN_UPDATES,
  unarchive: READING_EDIT | IN_UPDATES,
  deleteMany: READING_EDIT | IN_UPDATES,
  deleteOne: READING_EDIT | IN_UPDATES,
};

export type OperationName = keyof Operations;

/** One request to a collection, known by a number that the client gave it. */
export type Request<Name extends OperationName = OperationName> = {
  [N in Name]: { readonly op: N; readonly handle: number } & RequestFlags &
    Readonly<Operations[N]['ask']>;
}[Name];

export type ReplyTo<Name extends OperationName> = Operations[Name]['reply'];

/** Answers to a batch: a value for each request, with failures beside them by index. */
export interface BatchReply {
  readonly values: unknown[];
  readonly failures: ReadonlyMap<number, unknown> | undefined;
  /** Its place among the batches of all clients, in this engine and those before it. */
  readonly turn: number;
}

/** A change that was answered, and need not be in storage yet. */
export interface AcknowledgedChange {
  /**
   * The client's own number of the change, among those made through the same handle; 0 of a commit,
   * which has several.
   */
  readonly number: number;
  /** The turn of the batch it was answered in. */
  readonly turn: number;
  readonly request: Request;
}

/** The reply to a replay. */
export interface Replayed {
  /** The errors of changes that could not be reapplied, by index. */
  readonly failures: ReadonlyMap<number, unknown>;
  /** The id of the engine's database, `undefined` while its storage cannot be read. */
  readonly database: string | undefined;
}

/** Collections that a client has open, by the number of its handle. */
export type OpenedHandles = readonly (readonly [handle: number, settings: CollectionSettings])[];

/** The operations on a whole database; their handle is {@link DATABASE}. */
interface DatabaseOperations {
  /** Starts the export of all collections as one file. */
  exportAll: { ask: object; reply: { readonly cursor: number } };
  /** Like `importBackup`, for a file of several collections. */
  importAll: { ask: { call: number; merge: boolean }; reply: number };
  collections: { ask: object; reply: readonly CollectionInfo[] };
  rename: { ask: { from: string; to: string }; reply: undefined };
  usage: { ask: object; reply: readonly CollectionUsage[] };
}

/** The handle of the database itself: collections have other numbers. */
export const DATABASE = 0;

/** Identifies a change. A client numbers the changes of each handle consecutively. */
export interface IdempotencyKey {
  readonly client: string;
  readonly handle: number;
  readonly number: number;
  /** Whether its caller has the answer, and asks no more. */
  readonly isTold?: boolean;
}

/** By handle, the sequence number of the first change in a batch. */
export type FirstSequenceNumbers = readonly (readonly [handle: number, number: number])[];

/** The turn of a change without an acknowledgement: after all others. */
export const UNACKNOWLEDGED = Number.MAX_VALUE;

/** Asks for documents that the client shares: those that it keeps are not sent again. */
export interface SharedAsk {
  /** The number of the client's cache. A new cache has a higher number, and is empty. */
  readonly cache: number;
  /** Numbers of the replies that the cache has taken in since the last request. */
  readonly received: readonly number[];
}

/**
 * The versions that a request found, for a client in this thread; `undefined` where there is no
 * document.
 */
export interface FoundVersions {
  readonly records: readonly (StoredRecord | undefined)[];
  readonly bodies: readonly (Body | undefined)[];
}

/**
 * The same for a client elsewhere: documents that its cache lacks, and the numbers of all versions.
 */
export interface SentVersions {
  /** The number of each version, 0 where there is no document. */
  readonly versions: Float64Array;
  /** Which of them come along; their columns are parallel to it. */
  readonly places: readonly number[];
  readonly columns: ManagedColumns;
  readonly bodies: readonly Body[];
  readonly reply: number;
}

interface SharedOperations {
  /** Documents by id, archived or not, as of one instant. */
  getShared: {
    ask: { readonly ids: readonly string[]; readonly shared: SharedAsk };
    reply: FoundVersions | SentVersions;
  };
}
