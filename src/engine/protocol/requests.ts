import type { Body, DecodedBody } from '../../codec/body.ts';
import type { Plan } from '../../query/plan/plan.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import type { BackupOperations } from './backup-protocol.ts';
import type { DatabaseOperations } from './database-protocol.ts';
import type { LiveDetail, LiveOperations } from './live-protocol.ts';
import type { CollectionSettings } from './settings.ts';

/** Managed values of a document as they travel: its id, its flags, its stamps. */
export type ManagedReply = readonly [key: string, flags: number, stamps?: Stamps];

/** A document as it travels. */
export type RecordReply = readonly [
  key: string,
  flags: number,
  stamps: Stamps | undefined,
  body: Body | DecodedBody,
];

/** Managed values of many documents, as columns: structured clone takes half the time for them. */
export interface ManagedColumns {
  readonly keys: readonly string[];
  readonly flags: Uint8Array;
  readonly stamps: readonly (Stamps | undefined)[] | undefined;
}

/** Some of the documents that a scan comes by. */
export interface ScanReply extends ManagedColumns {
  readonly ranks: Float64Array;
  readonly bodies: readonly (Body | DecodedBody)[];
  /** Whether bodies are whole documents, managed fields included, as `select` left them. */
  readonly whole: boolean;
  /** Whether documents come in the order of the result, not of `orders`. */
  readonly sorted: boolean;
  /** Unless sorted: no document still to come was inserted before this rank. */
  readonly floor: number;
  /** With a limit: what the last document of the result was sorted by, and its rank. */
  readonly end?: { readonly key: unknown; readonly rank: number } | undefined;
  /** Where to go on, `undefined` at the end. */
  readonly cursor: number | undefined;
}

/** Which of the archived and not archived documents count. */
export type ArchivedFilter = boolean | 'only';

/** A document after which a page begins. */
export interface After {
  readonly id: string;
  /** Its rank, where it is known; else the document must still be there. */
  readonly rank?: number | undefined;
  /** What it was sorted by, where that is known; else it is read from the document. */
  readonly key?: unknown;
  readonly body?: Body | undefined;
}

/** What documents are looked at. */
export interface Selection {
  /** Criteria of the query; all documents when left out. */
  readonly criteria?: object | undefined;
  readonly archived: ArchivedFilter;
  /** What to order by, of insertion when left out. */
  readonly sort?: object | undefined;
  readonly skip?: number | undefined;
  readonly limit?: number | undefined;
  /** Paths to keep of each document. */
  readonly select?: readonly string[] | undefined;
  /** The last document of the page before. */
  readonly after?: After | undefined;
  /** Whether the caller takes everything, and does not stop at some document. */
  readonly all?: boolean;
  /** By what number the call can be aborted. */
  readonly call?: number | undefined;
  readonly mayHang?: RequestFlags['mayHang'];
}

/** What a request says about how it travels. One with a mark travels in a batch of its own. */
export interface RequestFlags {
  /** Its criteria hold a pattern, which may never come to its end. Answered when no more of it is tried. */
  readonly mayHang?: true | undefined;
  /** It is about an earlier call that has begun, and waits for no later one. */
  readonly urgent?: true | undefined;
  /** It replaces or removes what is there, and is not asked again of another engine: others may have made something since. */
  readonly once?: true | undefined;
  /** When it was made, Unix milliseconds, where another engine has answered it before. */
  readonly now?: number | undefined;
}

/** How a query was answered. */
export interface Explained {
  readonly plan: Plan;
  /** Keys of indexes that were looked at. */
  readonly keys_examined: number;
  /** Documents that were looked into. */
  readonly documents_examined: number;
  readonly returned: number;
  /** Milliseconds in the engine, without delivery. */
  readonly engine_ms: number;
}

/** A key of a key-value collection: a path such as `'USER_1.friends[0].name'`, a number, or its segments. */
export type Key = string | number | readonly (string | number)[];

/** The value at a key, with the version of its record. */
export interface ValueReply {
  readonly body: Body;
  readonly version: number;
}

/** Every operation of a collection: what is asked, what is answered. */
export interface Operations extends LiveOperations, BackupOperations, DatabaseOperations {
  /** Opens the collection under the handle. Every other operation waits for it. */
  open: { ask: { settings: CollectionSettings }; reply: undefined };
  /** Makes what a cached collection needs resident. */
  ready: { ask: object; reply: undefined };
  save: { ask: object; reply: undefined };
  drop: {
    /** Where `backup`, a backup of it stays. */
    ask: { enabled: boolean; backup?: boolean };
    reply: true;
  };
  count: { ask: Partial<Selection>; reply: number };

  insert: { ask: { id?: string | undefined; body: Body }; reply: ManagedReply };
  /** A part of an `insertMany`; nothing happens before the last. All parts carry the same `call`. */
  insertPart: {
    ask: {
      call: number;
      /** Documents of the call in the parts before. */
      from: number;
      ids?: (string | undefined)[] | undefined;
      bodies: Body[];
      last: boolean;
    };
    reply: ManagedColumns;
  };
  /** Forgets the parts of an `insertMany` of which a later part could not be encoded. */
  insertAbandon: { ask: { call: number }; reply: undefined };
  upsert: { ask: { id?: string | undefined; body: Body }; reply: ManagedReply };
  update: { ask: { id: string; body: Body }; reply: ManagedReply | undefined };
  patch: {
    ask: { id: string; changes: [path: string, body: Body][] };
    reply: RecordReply | undefined;
  };
  /** Answered with when it was done, Unix milliseconds, `false` where it was so already. */
  archive: { ask: { id: string }; reply: number | false };
  unarchive: { ask: { id: string }; reply: number | false };
  delete: { ask: { id: string }; reply: boolean };
  deleteMany: { ask: Partial<Selection> & { ids?: string[] | undefined }; reply: number };
  get: { ask: { id: string }; reply: RecordReply | undefined };
  explain: { ask: Selection; reply: Explained };
  /** Gives up a call that is being executed. */
  abort: { ask: { call: number }; reply: undefined };
  scan: { ask: Selection; reply: ScanReply };
  scanNext: { ask: { cursor: number; call?: number | undefined }; reply: ScanReply };
  scanEnd: { ask: { cursor: number }; reply: undefined };

  kvSet: { ask: { key: Key; body: Body }; reply: undefined };
  /** Where `array`, anything else at the key is an error. */
  kvGet: { ask: { key: Key; array?: boolean }; reply: ValueReply | undefined };
  kvDelete: { ask: { key: Key }; reply: boolean };
  kvPush: { ask: { key: Key; body: Body }; reply: Body };
  /** Adds to a number. */
  kvAdd: { ask: { key: Key; amount: number }; reply: number };
  /** Items of the array at the key that match; at most one where `first`. */
  kvMatch: { ask: { key: Key; criteria: Body; first: boolean }; reply: Body };
  /** Removes the items that match from the array at the key. */
  kvRemove: { ask: { key: Key; criteria: Body }; reply: Body };
  /** Replaces the value at the key unless its record has another version by now. */
  kvReplace: { ask: { key: Key; body: Body; version: number }; reply: boolean };
  kvKeys: { ask: object; reply: string[] };
  kvEntries: { ask: object; reply: { readonly keys: string[]; readonly bodies: Body[] } };
}

export type OperationName = keyof Operations;

/** One request to a collection, known by a number that the door gave it. */
export type Request<Name extends OperationName = OperationName> = {
  [N in Name]: { readonly op: N; readonly handle: number } & RequestFlags &
    Readonly<Operations[N]['ask']>;
}[Name];

export type ReplyTo<Name extends OperationName> = Operations[Name]['reply'];

/** Answers to a batch: a value for each request, with failures beside them by index. */
export interface BatchReply {
  readonly values: unknown[];
  readonly failures: ReadonlyMap<number, unknown> | undefined;
  /** Its place among the batches of all doors, in this engine and those before it. */
  readonly turn: number;
}

/** A change that was answered, and need not be in storage yet. */
export interface AcknowledgedChange {
  /** The client's own number of the change, among those made through the same handle. */
  readonly number: number;
  /** The turn of the batch it was answered in. */
  readonly turn: number;
  readonly request: Request;
}

/** Collections that a client has open, by the number of its handle. */
export type OpenedHandles = readonly (readonly [handle: number, settings: CollectionSettings])[];

/** What changed in a collection. */
export interface Change {
  /** The document's id, or the record of a key-value collection. */
  readonly id: string;
  readonly kind: 'insert' | 'update' | 'archive' | 'unarchive' | 'delete' | 'set';
}

/** What an engine says of itself. */
export interface EngineStatus {
  /** The storage in use: `indexeddb`, `memory`, or what a driver calls itself. */
  readonly storage: string | undefined;
  /** Pages and threads that use the database now. */
  readonly tabs: number;
  /** Changes that are not in storage yet, of all collections. */
  readonly unsaved: number;
  /** When the oldest of them was made. */
  readonly unsaved_since: Date | undefined;
  readonly last_save: Date | undefined;
  /** The last failure, until the next save succeeds; while the state is `failed`, why. */
  readonly last_error: Error | undefined;
}

/** What an engine tells without being asked, by name. */
export interface EngineEvents {
  /** Something in the status changed. */
  status: EngineStatus;
  /** Documents changed: once for each batch of calls. */
  change: { readonly collection: string; readonly changes: readonly Change[] };
  /** A save succeeded. */
  save: { readonly collection: string; readonly changes: number; readonly at: Date };
  /** Indexes of a collection are being built from documents that were there before; done at the total. */
  index: {
    readonly collection: string;
    readonly documents: number;
    readonly total: number;
  };
  /** Another state of a collection has taken the place of what it held. */
  restore: {
    readonly collection: string;
    /** Left out where it came from a file. */
    readonly backup: string | undefined;
    readonly documents: number;
  };
  /** A save failed and will be tried again, or stored data is damaged. */
  error: { readonly collection: string | undefined; readonly error: Error };
}

/** What an engine tells every door. */
export type ClientEvent = {
  [Name in keyof EngineEvents]: { readonly type: Name; readonly detail: EngineEvents[Name] };
}[keyof EngineEvents];

/** News of a live query, for the door that asked for it. */
export interface LiveEvent {
  readonly type: 'live';
  readonly detail: LiveDetail;
}

/** Which of a session's changes of a collection are settled: in storage, or without anything left to store. */
interface ReleasedEvent {
  readonly type: 'released';
  readonly detail: {
    readonly handle: number;
    /** All of the client's changes through the handle up to this one. */
    readonly number: number;
    /** But for these. */
    readonly missed: readonly number[] | undefined;
  };
}

export type EngineEvent = ClientEvent | LiveEvent | ReleasedEvent;
