import type { ChannelState, EnginePlace } from '../protocol/database-settings.ts';
import type { EngineEvents, EngineStatus } from '../protocol/event-protocol.ts';
import type { Plan } from '../query/plan/plan.ts';

export type { Change } from '../protocol/event-protocol.ts';

/** The state of a client. `storage` is known once it is open. */
export interface ClientStatus extends EngineStatus, EnginePlace {
  /**
   * `idle` until the first collection is constructed, and while the code of the engine cannot be
   * loaded.
   */
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

/** A query that took longer than `slow_query_ms`, and why. */
export interface SlowQuery {
  readonly collection: string;
  /** The method, such as `filter`; `live` for the first result of a live query. */
  readonly method: string;
  /** Criteria or function, as given. */
  readonly params: unknown;
  /** Options as given. */
  readonly options: object | undefined;
  readonly at: Date;
  /** Milliseconds from the call to its result, in this page. */
  readonly duration_ms: number;
  /** From `explain()`, which runs the query once more. `undefined` if that failed. */
  readonly plan: Plan | undefined;
  /** Index keys examined. */
  readonly keys_examined: number | undefined;
  readonly documents_examined: number | undefined;
  readonly returned: number | undefined;
  /** Milliseconds in the engine; the rest is delivery, decoding, and calls before it. */
  readonly engine_ms: number | undefined;
}

/** As the client emits it. */
export interface SlowQueryEvent {
  readonly type: 'slow_query';
  readonly detail: SlowQuery;
}
