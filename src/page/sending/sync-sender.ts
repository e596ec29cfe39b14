import { type Result, runSync } from '../../async/coroutine.ts';
import { CollectionError, nameCollection } from '../../errors/errors.ts';
import type { HandleChannel } from './handle-channel.ts';
import type { NearReads } from './near-reads.ts';
import type { Sender } from './sender.ts';
import type { SharedDocuments } from './shared-documents.ts';

/** What calls without promises need of a handle's channel. */
export type SyncChannel = Pick<HandleChannel, 'order' | 'sendSync'> &
  Partial<Pick<HandleChannel, 'shared'>>;

/** Runs calls synchronously, over an engine in this thread. */
export class SyncSender implements Sender {
  readonly started = 'thread';
  readonly isSync = true;
  readonly shared: SharedDocuments | undefined;
  readonly near: NearReads | undefined;
  readonly #collection: string;
  readonly #channel: SyncChannel;

  constructor(collection: string, channel: SyncChannel, near?: NearReads) {
    this.#collection = collection;
    this.#channel = channel;
    this.shared = channel.shared;
    this.near = near;
  }

  /** @throws {CollectionError} `sync_unavailable` while an exclusive call runs. */
  run<T>(
    call: (sender: Sender, ...args: never[]) => Result<T>,
    calls: object,
    args: readonly unknown[],
  ): T {
    if (this.#channel.order.busy) {
      throw new CollectionError(
        'sync_unavailable',
        'collection.sync cannot be used: an earlier insertMany, or a call with a function, still runs. Await it first.',
        { place: this.#collection },
      );
    }
    try {
      // Hot: no call takes more, and to spread them takes half as long as a `get`.
      const result = call.call(calls, this, args[0] as never, args[1] as never, args[2] as never);
      return runSync(result, this.#collection);
    } catch (error) {
      throw nameCollection(error, this.#collection);
    }
  }

  readonly send: Sender['send'] = (request) => this.#channel.sendSync(request);

  pause(): undefined {
    return undefined;
  }
}
