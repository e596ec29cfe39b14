import type { EngineEvents, EngineStatus } from '../engine/protocol.ts';
import type { Started } from '../transport/channel.ts';
import type { LinkState } from '../transport/link.ts';

export type { Change } from '../engine/protocol.ts';

/** What a door says of itself. `storage` is known once it is open. */
export interface DoorStatus extends EngineStatus {
  /** `idle` until the first collection is made. */
  readonly state: LinkState;
  /** Where the engine runs, once it does. */
  readonly engine: 'thread' | 'worker' | undefined;
  /** How it was started: a worker from its file, inline from a Blob, given by the caller; or in this thread. */
  readonly started: Started | undefined;
}

/** How much is stored of what may be. */
interface QuotaDetail {
  /** Bytes that this site stores, as the browser counts them. */
  readonly usage: number;
  /** Bytes that it may store. */
  readonly quota: number;
}

/** What listeners get, by event. */
export interface EventMap extends EngineEvents {
  status: DoorStatus;
  /** What this site stores nears what it may store: from 80 % on, looked at after saves while somebody listens. */
  quota: QuotaDetail;
}

export type EventName = keyof EventMap;

export type Listener<Name extends EventName> = (event: EventMap[Name]) => void;
