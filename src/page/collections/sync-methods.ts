import type { Stamp } from '../../api/document-types.ts';
import { type Result, runSync } from '../../async/coroutine.ts';
import { CollectionError, nameCollection } from '../../errors/errors.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import { type DocumentMethods, documentMethods } from '../calls/document-methods.ts';
import { type KeyValueMethods, keyValueMethods } from '../calls/key-value-methods.ts';
import { addMethods, type Start } from '../calls/methods.ts';
import type { HandleCalls } from '../calls/runtime.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import { NearReads } from '../sending/near-reads.ts';
import type { Sender } from '../sending/sender.ts';
import type { SharedDocuments } from '../sending/shared-documents.ts';

/** The methods of {@link DocumentCollection} without promises. */
export interface SyncDocuments<T extends object, S extends Stamp = never, I extends object = T>
  extends DocumentMethods<T, S, I, 'sync'> {}

/** The methods of {@link KeyValueCollection} without promises. */
export interface SyncKeyValues<V = unknown> extends KeyValueMethods<V, 'sync'> {}

class SyncCalls {
  readonly #calls: CommonCalls;
  readonly #sender: SyncSender;

  /** @param near Reads that need no request; in a transaction all do. */
  constructor(collection: string, calls: CommonCalls, channel: SyncChannel, near?: NearReads) {
    this.#calls = calls;
    this.#sender = new SyncSender(collection, channel, near);
  }

  protected call(start: Start<CommonCalls>, args: readonly unknown[]): unknown {
    return this.#sender.run(start(this.#calls), this.#calls, args);
  }
}

class SyncDocumentCalls extends SyncCalls {
  static {
    addMethods(this, documentMethods);
  }
}

class SyncKeyValueCalls extends SyncCalls {
  static {
    addMethods(this, keyValueMethods);
  }
}

export function syncMethods(
  { name, type }: Pick<CollectionSettings, 'name' | 'type'>,
  calls: CommonCalls,
  channel: SyncChannel,
  near?: NearReads,
): object {
  const Methods = type === 'DOCUMENT_BASED' ? SyncDocumentCalls : SyncKeyValueCalls;
  return new Methods(name, calls, channel, near);
}

export function openSync(
  settings: CollectionSettings,
  { calls, channel }: HandleCalls<CommonCalls>,
): object {
  if (settings.type !== 'DOCUMENT_BASED') return syncMethods(settings, calls, channel);
  const near = new NearReads(channel, settings);
  // Where the collection cannot be read after all, the next read says so.
  near.prepare().catch(() => undefined);
  return syncMethods(settings, calls, channel, near);
}

/** What calls without promises need of a handle's channel. */
export type SyncChannel = Pick<HandleChannel, 'order' | 'sendSync'> &
  Partial<Pick<HandleChannel, 'shared'>>;

/** Runs calls synchronously, over an engine in this thread. */
class SyncSender implements Sender {
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
