import type {
  BatchReply,
  ClientEvent,
  LiveEvent,
  Request,
} from '../../engine/protocol/requests.ts';
import type { CairnError } from '../../errors/cairn-error.ts';
import type { Durability, StorageDriver } from '../../storage/drivers/driver.ts';

/** Which database, and how it is kept. */
export interface DatabaseSettings {
  readonly name: string;
  /** Left out: IndexedDB where it exists, else memory. */
  readonly storage: 'indexeddb' | 'memory' | StorageDriver | undefined;
  readonly durability: Durability;
}

/** How the engine was started: a worker from its file, from a Blob or from the caller, in this thread, or by another tab. */
export type Started = 'file' | 'inline' | 'given' | 'thread' | 'tab';

/** Where an engine runs. */
export interface EnginePlace {
  /** In this thread, in a worker of this page, or in another tab; `undefined` until it does. */
  readonly engine: 'thread' | 'worker' | 'tab' | undefined;
  /** How it was started: a worker from its file, inline from a Blob, given by the caller; in this thread; by another tab. */
  readonly started: Started | undefined;
  /** Whether this page leads: the database's one engine is its own. */
  readonly leader: boolean | undefined;
}

/** A way to an engine that is running. */
export interface Channel {
  readonly place: EnginePlace;
  /**
   * Executes a batch. Answers at once, without a promise, where the engine can. A request with a mark comes
   * in a batch of its own.
   */
  execute(batch: readonly Request[]): BatchReply | Promise<BatchReply>;
  /** Executes one request without waiting; only there where the engine runs in this thread. */
  readonly executeNow?: ((request: Request) => unknown) | undefined;
  /** Whether changes are to be told. */
  watch(on: boolean): Promise<void>;
  /** Saves every collection. */
  save(): Promise<void>;
  /** Leaves the engine, and ends it if nobody else is there. */
  close(): Promise<void>;
}

/** What a channel tells. */
export interface ChannelEvents {
  readonly event: (event: ClientEvent | LiveEvent) => void;
  /** The engine is gone and another is looked for; then there is one. */
  readonly state: (state: 'opening' | 'open') => void;
  /** The engine is gone for good; nothing that was asked will be answered. */
  readonly lost: (error: CairnError) => void;
}

/** Makes a channel. */
export type Connect = (settings: DatabaseSettings, events: ChannelEvents) => Promise<Channel>;
