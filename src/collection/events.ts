import type { Change } from '../engine/protocol.ts';

export type { Change } from '../engine/protocol.ts';

/** What a door says of itself. */
export interface DoorStatus {
  /** `idle` until the first collection is made. */
  readonly state: 'idle' | 'opening' | 'open' | 'closing' | 'closed' | 'failed';
  /** Where the engine runs, once it does. */
  readonly engine: 'thread' | 'worker' | undefined;
  /** How it was started: a worker from its file, inline from a Blob, given by the caller; or in this thread. */
  readonly started: 'file' | 'inline' | 'given' | 'thread' | undefined;
  /** The storage in use, once it is open: `indexeddb`, `memory`, or what a driver calls itself. */
  readonly storage: string | undefined;
  /** Changes that are not in storage yet. */
  readonly unsaved: number;
  /** When the oldest of them was made. */
  readonly unsaved_since: Date | undefined;
  readonly last_save: Date | undefined;
  /** The last failure, until the next save succeeds. */
  readonly last_error: Error | undefined;
}

/** What listeners get, by event. */
export interface EventMap {
  /** Something in the status changed. */
  status: DoorStatus;
  /** Documents changed: once for each batch of calls. */
  change: { readonly collection: string; readonly changes: readonly Change[] };
  /** A save succeeded. */
  save: { readonly collection: string; readonly changes: number; readonly at: Date };
  /** A save failed and will be tried again, or stored data is damaged. */
  error: { readonly collection: string | undefined; readonly error: Error };
}

export type EventName = keyof EventMap;

export type Listener<Name extends EventName> = (event: EventMap[Name]) => void;
