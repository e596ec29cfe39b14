import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import { nameCollection } from '../../errors/criteria-error.ts';
import type { ChannelEvents, DatabaseSettings } from '../../transport/channel/channel.ts';
import { ClientChannel } from '../../transport/channel/client-channel.ts';
import type { Connect } from '../../transport/channel/engine-access.ts';
import type { Stamp } from '../document-types.ts';
import type { CallOrder } from './call-order.ts';
import { withCallerFrames } from './caller-frames.ts';
import { DocumentCalls } from './document-calls.ts';
import { exportedFile } from './file-calls.ts';
import { HandleChannel } from './handle-channel.ts';
import { KeyValueCalls } from './key-value-calls.ts';

/** Runs the calls of a client. Its code loads with the first collection. */
export class Runtime {
  readonly channel: ClientChannel;

  constructor(settings: DatabaseSettings, connect: Connect, events: ChannelEvents) {
    this.channel = new ClientChannel(settings, connect, events);
  }

  /** The error of a rejected call, with the names of its collection and its caller. */
  rejection(error: unknown, collection: string): unknown {
    return withCallerFrames(nameCollection(error, collection));
  }

  /** Opens a collection of documents. */
  openDocuments<T extends object, S extends Stamp>(
    settings: CollectionSettings,
    order: CallOrder,
  ): HandleCalls<DocumentCalls<T, S>> {
    return new HandleCalls(new DocumentCalls<T, S>(settings, order), this.channel, settings, order);
  }

  /** Opens a collection of keys and values. */
  openKeyValues(settings: CollectionSettings, order: CallOrder): HandleCalls<KeyValueCalls> {
    return new HandleCalls(new KeyValueCalls(order), this.channel, settings, order);
  }
}

/** The calls of one open handle. */
export class HandleCalls<Calls> {
  readonly calls: Calls;
  readonly channel: HandleChannel;
  /** Resolves once the collection is open. */
  readonly opened: Promise<undefined>;

  constructor(
    calls: Calls,
    channel: ClientChannel,
    settings: CollectionSettings,
    order: CallOrder,
  ) {
    this.calls = calls;
    this.channel = new HandleChannel(channel, order, channel.newHandle());
    this.opened = this.channel.send({ op: 'open', settings });
  }

  /** The bytes of a file that the engine exports. */
  exported(cursor: number): ReadableStream<Uint8Array> {
    return exportedFile(this.channel, cursor);
  }
}
