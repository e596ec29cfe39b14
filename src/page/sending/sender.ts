import { type Coroutine, wait } from '../../async/coroutine.ts';
import { isPromise } from '../../codec/kinds.ts';
import type { Started } from '../../protocol/database-settings.ts';
import type { OperationName, Operations, ReplyTo, RequestFlags } from '../../protocol/requests.ts';
import type { ClientChannel } from '../connection/client-channel.ts';
import type { NearReads } from './near-reads.ts';
import type { SharedDocuments } from './shared-documents.ts';

/** A request without its handle, which the handle's channel adds. */
export type HandleRequest<Name extends OperationName = OperationName> = {
  [N in Name]: { readonly op: N } & RequestFlags & Readonly<Operations[N]['ask']>;
}[Name];

/**
 * Sends the requests of a call to the engine. Calls are coroutines over a sender, written once:
 * over a sender with promises they run asynchronously, over a synchronous one without a turn of the
 * event loop.
 */
export interface Sender {
  /** How the engine started; `undefined` before it runs. */
  readonly started: Started | undefined;
  /** Whether nothing can be awaited. */
  readonly isSync: boolean;
  /** The documents that readers share, where the collection has them and no transaction reads. */
  readonly shared?: SharedDocuments | undefined;
  /** Reads that need no request. */
  readonly near?: NearReads | undefined;
  /** Returns the reply, or a promise of it. */
  send<Name extends OperationName>(
    request: HandleRequest<Name>,
  ): ReplyTo<Name> | Promise<ReplyTo<Name>>;
  /**
   * Runs a call of several requests without later calls in between. Left out where none can come.
   */
  readonly exclusively?: (<T>(start: (alone: Sender) => Coroutine<T>) => Promise<T>) | undefined;
  /** Where a transaction of its own can begin. Left out where requests are atomic already. */
  readonly client?: { readonly channel: ClientChannel; readonly handle: number };
  /** Yields to the event loop; `undefined` in a synchronous call. */
  pause(): Promise<void> | undefined;
}

/** Sends a request and waits for its reply. */
export function* request<Name extends OperationName>(
  sender: Sender,
  message: HandleRequest<Name>,
): Coroutine<ReplyTo<Name>> {
  const reply = sender.send(message);
  // Not `yield* replyOf(reply)`: a generator less for each call.
  return isPromise(reply) ? ((yield reply) as ReplyTo<Name>) : reply;
}

/** Sends a request; {@link replyOf} waits for its reply, if anything does. */
export function post<Name extends OperationName>(
  sender: Sender,
  message: HandleRequest<Name>,
): ReplyTo<Name> | Promise<ReplyTo<Name>> {
  const reply = sender.send(message);
  // The failure of a reply that nothing awaits must not count as unhandled.
  if (isPromise(reply)) reply.catch(() => undefined);
  return reply;
}

export function* replyOf<T>(reply: T | Promise<T>): Coroutine<T> {
  return isPromise(reply) ? ((yield reply) as T) : reply;
}

export function* pause(sender: Sender): Coroutine<void> {
  const turn = sender.pause();
  if (turn) yield turn;
}

/** Runs a call of several requests without later calls of the collection in between. */
export function* exclusively<T>(
  sender: Sender,
  start: (alone: Sender) => Coroutine<T>,
): Coroutine<T> {
  return sender.exclusively ? yield* wait(sender.exclusively(start)) : yield* start(sender);
}
