import type { LiveDetail } from '../../engine/protocol/live-protocol.ts';
import type { EngineEvent, EngineStatus } from '../../engine/protocol/requests.ts';
import type { RecoveryKey } from '../../engine/recovery/recovery.ts';
import { fromWire, toWire, type WireError } from './wire-error.ts';

/** Asks a worker whether it is there. */
export const HELLO = 'cairn:hello';
/** A worker's answer to {@link HELLO}, which it also gives unasked once its script has run. */
export const READY = 'cairn:ready';

/** Marks an event of a session among the replies on the same channel: their order is kept. */
export const EVENT = 'cairn:event';

/** Marks what an engine tells its page among the events for the client. */
export const NOTICE = 'cairn:notice';

/** What an engine tells its page. */
export type Notice =
  | { readonly [NOTICE]: 'taken' }
  | { readonly [NOTICE]: 'forgotten'; readonly left: readonly RecoveryKey[] }
  | { readonly [NOTICE]: 'bring'; readonly address: string; readonly port: MessagePort };

/** An engine's event as it crosses the boundary. */
export type WireEvent =
  | Exclude<EngineEvent, { type: 'status' | 'error' | 'live' }>
  | { readonly type: 'status'; readonly detail: WireStatus }
  | {
      readonly type: 'error';
      readonly detail: { readonly collection: string | undefined; readonly error: WireError };
    }
  | { readonly type: 'live'; readonly detail: LiveDetail | WireFailure };

/** Why nothing comes of a live query any more. */
interface WireFailure {
  readonly live: number;
  readonly failed: WireError;
}

export type WireStatus = Omit<EngineStatus, 'last_error'> & {
  readonly last_error: WireError | undefined;
};

/** The answer to a batch. */
export interface WireReply {
  readonly values: unknown[];
  readonly failures: WireFailures | undefined;
  readonly turn: number;
  /** The status, where the batch changed it: it rides along instead of costing a message. */
  readonly status: WireStatus | undefined;
}

/** The answer to an opening. */
export interface WireOpened {
  readonly error: WireError | undefined;
  /** Whether other tabs can use the engine. */
  readonly shared: boolean;
}

/** Failures by index or number. */
export type WireFailures = readonly (readonly [index: number, error: WireError])[];

export function statusToWire(status: EngineStatus): WireStatus {
  return { ...status, last_error: status.last_error && toWire(status.last_error) };
}

export function statusFromWire(status: WireStatus): EngineStatus {
  return { ...status, last_error: status.last_error && fromWire(status.last_error) };
}

export function eventToWire({ type, detail }: EngineEvent): WireEvent {
  if (type === 'status') return { type, detail: statusToWire(detail) };
  if (type === 'error') return { type, detail: { ...detail, error: toWire(detail.error) } };
  if (type === 'live' && 'error' in detail.news)
    return { type, detail: { live: detail.live, failed: toWire(detail.news.error) } };
  return { type, detail } as WireEvent;
}

export function eventFromWire({ type, detail }: WireEvent): EngineEvent {
  if (type === 'status') return { type, detail: statusFromWire(detail) };
  if (type === 'error') return { type, detail: { ...detail, error: fromWire(detail.error) } };
  if (type === 'live' && 'failed' in detail)
    return { type, detail: { live: detail.live, news: { error: fromWire(detail.failed) } } };
  return { type, detail } as EngineEvent;
}
