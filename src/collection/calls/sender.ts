import type {
  OperationName,
  Operations,
  ReplyTo,
  RequestFlags,
} from '../../engine/protocol/requests.ts';
import { type Coroutine, wait } from '../../engine/scheduling/coroutine.ts';
import type { Started } from '../../transport/channel/channel.ts';

/** A request as a call makes it: the handle's channel adds the number of the handle. */
export type HandleRequest<Name extends OperationName = OperationName> = {
  [N in Name]: { readonly op: N } & RequestFlags & Readonly<Operations[N]['ask']>;
}[Name];

/**
 * A call's way to the engine. Calls are coroutines over it, written once: over a sender that answers with promises
 * they run asynchronously, over one that answers at once they run without a turn of the event loop.
 */
export interface Sender {
  /** How the engine was started; `undefined` until it is. */
  readonly started: Started | undefined;
  /** The reply, or a promise of it where the engine cannot answer at once. */
  send<Name extends OperationName>(
    request: HandleRequest<Name>,
  ): ReplyTo<Name> | Promise<ReplyTo<Name>>;
  /** Yields to the event loop, so that the page is not blocked; nothing where the call must not wait. */
  pause(): Promise<void> | undefined;
}

/** Sends a request and waits for its reply. */
export function* request<Name extends OperationName>(
  sender: Sender,
  message: HandleRequest<Name>,
): Coroutine<ReplyTo<Name>> {
  return yield* replyOf(sender.send(message));
}

/** Sends a request whose reply is awaited later, with {@link replyOf}, or never. */
export function post<Name extends OperationName>(
  sender: Sender,
  message: HandleRequest<Name>,
): ReplyTo<Name> | Promise<ReplyTo<Name>> {
  const reply = sender.send(message);
  // A failure counts as unhandled only where somebody waits for it.
  if (reply instanceof Promise) reply.catch(() => undefined);
  return reply;
}

export function* replyOf<T>(reply: T | Promise<T>): Coroutine<T> {
  return reply instanceof Promise ? yield* wait(reply) : reply;
}

export function* pause(sender: Sender): Coroutine<void> {
  const turn = sender.pause();
  if (turn) yield turn;
}
