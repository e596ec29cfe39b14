import type { BatchReply, DoorEvent, LiveEvent, Request } from '../engine/protocol.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import type { Durability, StorageDriver } from '../storage/driver.ts';

/** Which database, and how it is kept. */
export interface DatabaseSettings {
  readonly name: string;
  /** Left out: IndexedDB where it exists, else memory. */
  readonly storage: 'indexeddb' | 'memory' | StorageDriver | undefined;
  readonly durability: Durability;
}

/** How the engine was started: a worker from its file, from a Blob or from the caller, in this thread, or by another tab. */
export type Started = 'file' | 'inline' | 'given' | 'thread' | 'tab';

/** A way to an engine that is running. */
export interface Channel {
  readonly started: Started;
  /** Whether the engine is that of this page, and not that of another tab. */
  readonly leads: boolean;
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
  readonly event: (event: DoorEvent | LiveEvent) => void;
  /** The engine is gone and another is looked for; then there is one. */
  readonly state: (state: 'opening' | 'open') => void;
  /** The engine is gone for good; nothing that was asked will be answered. */
  readonly lost: (error: CairnError) => void;
}

/** Makes a channel. */
export type Connect = (settings: DatabaseSettings, events: ChannelEvents) => Promise<Channel>;
