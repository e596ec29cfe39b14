import type {
  OperationName,
  Operations,
  ReplyTo,
  RequestFlags,
} from '../../engine/protocol/requests.ts';
import type { Started } from '../../transport/channel/channel.ts';

/** A request, as a collection makes it: its port adds the handle. */
export type Ask<Name extends OperationName = OperationName> = {
  [N in Name]: { readonly op: N } & RequestFlags & Readonly<Operations[N]['ask']>;
}[Name];

/** What an exchange waits for. */
export type Step =
  /** An answer to this request. */
  | { readonly kind: 'ask'; readonly ask: Ask }
  /** Nothing: the request is sent, and its answer collected later with the ticket that comes back. */
  | { readonly kind: 'post'; readonly ask: Ask }
  /** The answer to a posted request. */
  | { readonly kind: 'collect'; readonly ticket: Ticket<OperationName> }
  /** Something that is not the engine's, such as the next part of a stream. */
  | { readonly kind: 'wait'; readonly promise: Promise<unknown> }
  /** How the engine was started. */
  | { readonly kind: 'started' }
  /** A turn of the event loop, so that the page is not blocked. */
  | { readonly kind: 'pause' };

/** Stands for the answer to a posted request. */
export interface Ticket<Name extends OperationName> {
  readonly answer: ReplyTo<Name> | Promise<ReplyTo<Name>>;
}

/**
 * A method of a collection: asks the engine, once or several times, and makes its result of the answers.
 * Written once as a generator, it runs with promises (`run.ts`) and without (`run-now.ts`).
 */
export type Exchange<T> = Generator<Step, T, unknown>;

export function* ask<Name extends OperationName>(request: Ask<Name>): Exchange<ReplyTo<Name>> {
  return (yield { kind: 'ask', ask: request as Ask }) as ReplyTo<Name>;
}

export function* post<Name extends OperationName>(request: Ask<Name>): Exchange<Ticket<Name>> {
  return (yield { kind: 'post', ask: request as Ask }) as Ticket<Name>;
}

export function* collect<Name extends OperationName>(
  ticket: Ticket<Name>,
): Exchange<ReplyTo<Name>> {
  return (yield { kind: 'collect', ticket: ticket as Ticket<OperationName> }) as ReplyTo<Name>;
}

export function* wait<T>(promise: Promise<T>): Exchange<T> {
  return (yield { kind: 'wait', promise }) as T;
}

export function* started(): Exchange<Started | undefined> {
  return (yield { kind: 'started' }) as Started | undefined;
}

export function* pause(): Exchange<void> {
  yield { kind: 'pause' };
}
