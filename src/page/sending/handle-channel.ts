import { type Result, run } from '../../async/coroutine.ts';
import { nextTurn } from '../../async/next-turn.ts';
import { isPromise } from '../../codec/kinds.ts';
import type { Started } from '../../protocol/database-settings.ts';
import type { LiveUpdate } from '../../protocol/live-protocol.ts';
import type { OperationName, ReplyTo, Request } from '../../protocol/requests.ts';
import type { CallOrder } from '../connection/call-order.ts';
import type { ClientChannel } from '../connection/client-channel.ts';
import type { Caller } from '../connection/in-flight-requests.ts';
import type { CollectionSchema } from './collection-schema.ts';
import type { LiveDocuments } from './documents.ts';
import type { LiveRegistry } from './observed-call.ts';
import type { HandleRequest, Sender } from './sender.ts';
import type { SharedDocuments } from './shared-documents.ts';

export type StartCall<T> = (sender: Sender) => Result<T>;

type Send = <Name extends OperationName>(request: HandleRequest<Name>) => Promise<ReplyTo<Name>>;

/** What a live query needs of the channel of its handle. */
export interface LiveChannel
  extends Pick<HandleChannel, 'registry' | 'listen' | 'unlisten'>,
    Partial<Pick<HandleChannel, 'parseSearch'>> {
  readonly shared: LiveDocuments | undefined;
  send(request: HandleRequest<'liveNext'>): Promise<unknown>;
  sendInOrder(request: HandleRequest<'live' | 'liveEnd'>): Promise<unknown>;
}

/** A handle's view of its client's channel: runs calls, addresses their requests to the handle. */
export class HandleChannel {
  /** Shared by all handles of the client to this collection. */
  readonly order: CallOrder;
  /** Of the handle, once it is loaded; replication reports what it refuses. */
  schema: CollectionSchema | undefined;
  /** Of a handle with a text index, once it is loaded. */
  parseSearch: ((...asked: never) => object) | undefined;
  /** Of a handle with relations, once it is loaded: the channel of a live query with partners. */
  live: ((source: object) => LiveChannel | undefined) | undefined;
  readonly client: ClientChannel;
  /** Its number in requests. */
  readonly handle: number;
  /** Where its live queries enter themselves. */
  readonly registry: LiveRegistry | undefined;
  /** The documents that its readers share; `undefined` where each gets copies. */
  readonly shared: SharedDocuments | undefined;
  /** The sender of calls that are neither exclusive nor abortable. */
  readonly sender: Sender;
  /** Sends a request, which is the channel's from now on. */
  readonly send: Send;

  /** @param handle Number of the handle; {@link DATABASE} addresses the whole database. */
  constructor(
    channel: ClientChannel,
    order: CallOrder,
    handle: number,
    registry?: LiveRegistry,
    shared?: SharedDocuments,
  ) {
    this.registry = registry;
    this.shared = shared;
    this.order = order;
    this.client = channel;
    this.handle = handle;
    this.sender = this.#senderOver(undefined);
    this.send = this.#sendOver({ handle, order: undefined });
  }

  /** How the engine started; `undefined` before it runs. */
  get started(): Started | undefined {
    return this.client.place?.started;
  }

  /**
   * Runs a call that may be exclusive or abortable. Sends its first request synchronously, so that
   * calls keep their order.
   *
   * @param isExclusive Whether other calls of the collection wait until this one has ended.
   * @param signal When aborted, the call rejects with its reason and the engine stops.
   */
  run<T>(start: StartCall<T>, isExclusive = false, signal?: AbortSignal): Promise<T> {
    if (signal) return this.#runUntil(signal, start, isExclusive);
    return isExclusive ? this.#alone(start, undefined) : this.#drive(start, this.sender);
  }

  /** Sends a request after all earlier calls. */
  sendInOrder<Name extends OperationName>(request: HandleRequest<Name>): Promise<ReplyTo<Name>> {
    return this.sender.send(request) as Promise<ReplyTo<Name>>;
  }

  /**
   * Executes a request at once. @throws {CollectionError} `sync_unavailable` where the engine is
   * not in this thread.
   */
  sendSync<Name extends OperationName>(request: HandleRequest<Name>): ReplyTo<Name> {
    (request as { handle?: number }).handle = this.handle;
    return this.client.sendSync(request as unknown as Request) as ReplyTo<Name>;
  }

  /** Listens to a live query. @returns its number in requests. */
  listen(listener: (update: LiveUpdate) => void): number {
    return this.client.listen(listener);
  }

  unlisten(live: number): void {
    this.client.unlisten(live);
  }

  /** Not async, which would cost two more turns of the microtask queue. */
  #drive<T>(start: StartCall<T>, sender: Sender): Promise<T> {
    try {
      const result = run(start(sender));
      return isPromise(result) ? result : Promise.resolve(result);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Runs a call while later ones wait. */
  #alone<T>(start: StartCall<T>, abort: Abort): Promise<T> {
    return this.order.enterExclusively(() => this.#drive(start, this.#senderOver(abort, true)));
  }

  /** @param isAlone Whether the call holds the order of calls. */
  #senderOver(abort: Abort, isAlone = false): Sender {
    const { handle, order } = this;
    const started = () => this.started;
    return {
      get started() {
        return started();
      },
      isSync: false,
      shared: this.shared,
      send: this.#sendOver({ handle, order: isAlone ? undefined : order, abort }),
      exclusively: isAlone ? undefined : (start) => this.#alone(start, abort),
      client: { channel: this.client, handle },
      pause: nextTurn,
    };
  }

  #sendOver(caller: Caller): Send {
    return this.client.requests.sendFor(caller) as Send;
  }

  #runUntil<T>(signal: AbortSignal, start: StartCall<T>, isExclusive: boolean): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const call = Math.random();
    const begin = (abort: Abort): Promise<T> =>
      isExclusive ? this.#alone(start, abort) : this.#drive(start, this.#senderOver(abort));
    return new Promise<T>((resolve, reject) => {
      const abort = (): void => {
        reject(signal.reason);
        this.client.requests.withdraw(call, signal.reason);
        // The call may have ended; if the engine is lost, the call itself rejects.
        this.send({ op: 'abort', call, urgent: true }).catch(() => undefined);
      };
      signal.addEventListener('abort', abort, { once: true });
      begin({ call, signal })
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', abort));
    });
  }
}

type Abort = Caller['abort'];
