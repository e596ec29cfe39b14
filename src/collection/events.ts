import type { EngineEvents, EngineStatus } from '../engine/protocol/requests.ts';
import type { ChannelState, EnginePlace } from '../transport/channel/channel.ts';

export type { Change } from '../engine/protocol/requests.ts';

/** What a door says of itself. `storage` is known once it is open. */
export interface ClientStatus extends EngineStatus, EnginePlace {
  /** `idle` until the first collection is made. */
  readonly state: ChannelState;
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
  status: ClientStatus;
  /** What this site stores nears what it may store: from 80 % on, looked at after saves while somebody listens. */
  quota: QuotaDetail;
}

export type EventName = keyof EventMap;

export type Listener<Name extends EventName> = (event: EventMap[Name]) => void;
