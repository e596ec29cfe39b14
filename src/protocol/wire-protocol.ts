import type { CairnError } from '../errors/errors.ts';
import type { DatabaseSettings, LeadershipTerm } from './database-settings.ts';
import type { EngineEvent, EngineStatus } from './event-protocol.ts';
import type { LiveDetail } from './live-protocol.ts';
import type { RecoveryKey, RecoveryRecord } from './recovery-records.ts';
import type {
  AcknowledgedChange,
  FirstSequenceNumbers,
  OpenedHandles,
  Request,
} from './requests.ts';
import { fromWire, toWire, type WireError } from './wire-error.ts';

/**
 * Marks an event of a session. Events share the channel of the replies, which keeps their order.
 */
export const EVENT = 'cairn:event';

/** Events from the leader to a follower. */
export interface TabEvent {
  readonly [EVENT]: readonly WireEvent[];
  /** Counts the messages of the session: a gap is a lost one. */
  readonly number: number;
}

/** The methods that a leader exposes to a follower through comlink. */
export interface TabApi extends SessionApi {
  /** Brings a port for the channel to an address. Older leaders cannot. */
  bringPort(address: string): void;
}

/** What a worker sends: events of the session, a notice for the page, or a reply of comlink. */
export type WorkerMessage =
  | { readonly [EVENT]: readonly WireEvent[] }
  | Notice
  | { readonly id: string };

/** What a worker exposes through comlink. */
export interface WorkerApi extends SessionApi {
  /** Opens the storage and starts the engine. */
  open(settings: DatabaseSettings, lead: LeadershipTerm): Promise<WireOpened>;
  /**
   * Starts the session of a client: of the first at the worker itself, of another at a port of its
   * own.
   */
  join(client: string, port?: MessagePort): WireStatus;
  replayJournals(journals: readonly RecoveryRecord[]): void;
  /** What is stored of the key of an encrypted database. */
  keyRecord(): Promise<unknown>;
  /** Begins no write for a second: the page may end. */
  pause(): void;
  /** Closes the engine to followers, and starts no further write. */
  resign(): void;
  close(deleting: boolean): Promise<WireError | undefined>;
}

export interface SessionProgress {
  /** Calls without a reply. */
  readonly pending: number;
  /** Messages with events sent so far. */
  readonly sent: number;
}

/** The methods of a session over comlink, with failures as values: it strips their fields. */
export interface SessionApi {
  replay(
    opened: OpenedHandles,
    changes: readonly AcknowledgedChange[],
    database: string | undefined,
  ): Promise<WireReplayed>;
  /**
   * @param sequence Counts the calls of `execute` and `save`. A call behind a lost one gets no
   *   reply.
   */
  execute(
    batch: readonly Request[],
    first: FirstSequenceNumbers,
    sequence: number,
  ): Promise<WireReply>;
  watch(on: boolean): void;
  save(sequence: number): Promise<WireError | undefined>;
  leave(): void;
  ping(): SessionProgress;
}

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

type WireStatus = Omit<EngineStatus, 'last_error'> & {
  readonly last_error: WireError | undefined;
};

export interface WireReply {
  readonly values: unknown[];
  readonly failures: WireFailures | undefined;
  readonly turn: number;
  /** The events that came before the reply and are not sent yet. */
  readonly events: readonly WireEvent[] | undefined;
}

interface WireOpened {
  readonly error: WireError | undefined;
  /** Whether other tabs can use the engine. */
  readonly shared: boolean;
}

/** The reply to a replay. */
interface WireReplayed {
  readonly failures: WireFailures;
  readonly database: string | undefined;
  /** Why the engine takes nothing from this client. */
  readonly error: WireError | undefined;
}

export type WireFailures = readonly (readonly [index: number, error: WireError])[];

export function statusToWire(status: EngineStatus): WireStatus {
  return { ...status, last_error: status.last_error && toWire(status.last_error) };
}

export function statusFromWire(status: WireStatus): EngineStatus {
  return {
    ...status,
    last_error: status.last_error && (fromWire(status.last_error) as CairnError),
  };
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
  if (type === 'error')
    return { type, detail: { ...detail, error: fromWire(detail.error) as CairnError } };
  if (type === 'live' && 'failed' in detail)
    return { type, detail: { live: detail.live, news: { error: fromWire(detail.failed) } } };
  return { type, detail } as EngineEvent;
}

/** A message of a page to the worker of a file. */
export type FileRequest =
  /** The first message: the direction of the conversion. */
  | { readonly kind: 'write' | 'read' }
  /** The page wants the next value of the output. */
  | { readonly kind: 'next' }
  /** The answer to `pull`; without a value at the end of the input. */
  | { readonly kind: 'input'; readonly value?: unknown }
  | { readonly kind: 'ping' };

/** A message of the worker of a file to its page. */
export type FileReply =
  /** The worker wants the next value of the input. */
  | { readonly kind: 'pull' }
  /** The answer to `next`; without a value at the end of the output. */
  | { readonly kind: 'output'; readonly value?: unknown }
  | { readonly kind: 'failure'; readonly error: WireError }
  | { readonly kind: 'pong' };
