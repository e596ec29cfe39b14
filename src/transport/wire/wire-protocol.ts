import type { EngineEvent, EngineStatus } from '../../engine/protocol/event-protocol.ts';
import type { LiveDetail } from '../../engine/protocol/live-protocol.ts';
import type { RecoveryKey } from '../../engine/recovery/recovery-records.ts';
import { fromWire, toWire, type WireError } from './wire-error.ts';

/** Marks an event of a session. Events share the channel of the replies, which keeps their order. */
export const EVENT = 'cairn:event';

/** Marks a notice of the engine to its page. */
export const NOTICE = 'cairn:notice';

/** A notice of an engine in a worker to its page. */
export type Notice =
  | { readonly [NOTICE]: 'superseded' }
  | { readonly [NOTICE]: 'recovered'; readonly keys: readonly RecoveryKey[] }
  | { readonly [NOTICE]: 'bring'; readonly address: string; readonly port: MessagePort };

/** An engine's event in a message. */
export type WireEvent =
  | Exclude<EngineEvent, { type: 'status' | 'error' | 'live' }>
  | { readonly type: 'status'; readonly detail: WireStatus }
  | {
      readonly type: 'error';
      readonly detail: { readonly collection: string | undefined; readonly error: WireError };
    }
  | { readonly type: 'live'; readonly detail: LiveDetail | WireFailure };

/** The error that ended a live query. */
interface WireFailure {
  readonly live: number;
  readonly failed: WireError;
}

export type WireStatus = Omit<EngineStatus, 'last_error'> & {
  readonly last_error: WireError | undefined;
};

/** The reply to a batch. */
export interface WireReply {
  readonly values: unknown[];
  readonly failures: WireFailures | undefined;
  readonly turn: number;
  /** The events that came before the reply and are not sent yet. */
  readonly events: readonly WireEvent[] | undefined;
}

/** The reply to `open`. */
export interface WireOpened {
  readonly error: WireError | undefined;
  /** Whether other tabs can use the engine. */
  readonly shared: boolean;
}

/** The reply to a replay. */
export interface WireReplayed {
  readonly failures: WireFailures;
  readonly database: string | undefined;
  /** Why the engine takes nothing from this client. */
  readonly error: WireError | undefined;
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
  if (type === 'live' && 'records' in detail.news)
    return { type, detail: { ...detail, news: { ...detail.news, records: undefined } } };
  return { type, detail } as WireEvent;
}

export function eventFromWire({ type, detail }: WireEvent): EngineEvent {
  if (type === 'status') return { type, detail: statusFromWire(detail) };
  if (type === 'error') return { type, detail: { ...detail, error: fromWire(detail.error) } };
  if (type === 'live' && 'failed' in detail)
    return { type, detail: { live: detail.live, news: { error: fromWire(detail.failed) } } };
  return { type, detail } as EngineEvent;
}
