import type { EngineEvents, EngineStatus } from '../engine/protocol/event-protocol.ts';
import type { ChannelState, EnginePlace } from '../transport/channel/channel.ts';
import type { SlowQuery } from './inspection/slow-query.ts';

export type { Change } from '../engine/protocol/event-protocol.ts';

/** The state of a client. `storage` is known once it is open. */
export interface ClientStatus extends EngineStatus, EnginePlace {
  /** `idle` until the first collection is constructed, and while the code of the engine cannot be loaded. */
  readonly state: ChannelState;
}

/** Storage use against the quota. */
interface QuotaDetail {
  /** Bytes that this site stores, as the browser counts them. */
  readonly usage: number;
  /** Bytes that this site may store. */
  readonly quota: number;
}

/** The payload of each event. */
export interface EventMap extends EngineEvents {
  status: ClientStatus;
  /** Storage use has reached 80 % of the quota. Checked after saves, while there is a listener. */
  quota: QuotaDetail;
  /** A query took longer than the option `slow_query_ms`. */
  slow_query: SlowQuery;
}

export type EventName = keyof EventMap;

export type Listener<Name extends EventName> = (event: EventMap[Name]) => void;
