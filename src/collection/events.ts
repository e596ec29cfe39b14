import type { EngineEvents, EngineStatus } from '../engine/protocol.ts';
import type { Started } from '../transport/channel.ts';
import type { LinkState } from '../transport/link.ts';

export type { Change } from '../engine/protocol.ts';

/** What a door says of itself. `storage` is known once it is open. */
export interface DoorStatus extends EngineStatus {
  /** `idle` until the first collection is made. */
  readonly state: LinkState;
  /** Where the engine runs, once it does: in this thread, in a worker of this page, or in another tab. */
  readonly engine: 'thread' | 'worker' | 'tab' | undefined;
  /** Whether this page leads: the database's one engine is its own. */
  readonly leader: boolean;
  /** How it was started: a worker from its file, inline from a Blob, given by the caller; in this thread; or by another tab. */
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
