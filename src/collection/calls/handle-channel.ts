import type { LiveNews } from '../../engine/protocol/live-protocol.ts';
import type { OperationName, ReplyTo, Request } from '../../engine/protocol/requests.ts';
import type { Started } from '../../transport/channel/channel.ts';
import type { ClientChannel } from '../../transport/channel/client-channel.ts';
import type { CallOrder } from './call-order.ts';
import type { HandleRequest } from './sender.ts';

/** A handle's view of its client's channel: addresses requests to the handle. */
export class HandleChannel {
  /** Shared by all handles of the client to this collection. */
  readonly order: CallOrder;
  readonly #channel: ClientChannel;
  readonly #handle: number;

  /** @param handle Number of the handle; {@link DATABASE} addresses the whole database. */
  constructor(channel: ClientChannel, order: CallOrder, handle: number) {
    this.order = order;
    this.#channel = channel;
    this.#handle = handle;
  }

  /** How the engine started; `undefined` before it runs. */
  get started(): Started | undefined {
    return this.#channel.place?.started;
  }

  send<Name extends OperationName>(request: HandleRequest<Name>): Promise<ReplyTo<Name>> {
    return this.#channel.send(this.#addressed(request)) as Promise<ReplyTo<Name>>;
  }

  /** Sends a request after all earlier calls. */
  sendInOrder<Name extends OperationName>(request: HandleRequest<Name>): Promise<ReplyTo<Name>> {
    return this.order.enter(() => this.send(request));
  }

  /** Executes a request at once. @throws {CollectionError} `sync_unavailable` where the engine is not in this thread. */
  sendSync<Name extends OperationName>(request: HandleRequest<Name>): ReplyTo<Name> {
    return this.#channel.sendSync(this.#addressed(request)) as ReplyTo<Name>;
  }

  /** Removes the requests of an aborted call that are not in flight yet. */
  withdraw(call: number, reason: unknown): void {
    this.#channel.withdraw(call, reason);
  }

  /** Listens to a live query. @returns its number in requests. */
  listen(listener: (news: LiveNews) => void): number {
    return this.#channel.listen(listener);
  }

  unlisten(live: number): void {
    this.#channel.unlisten(live);
  }

  #addressed<Name extends OperationName>(request: HandleRequest<Name>): Request {
    return { ...request, handle: this.#handle } as Request;
  }
}
