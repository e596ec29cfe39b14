import type { Stamp } from '../../api/document-types.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import { type DocumentMethods, documentMethods } from '../calls/document-methods.ts';
import { type KeyValueMethods, keyValueMethods } from '../calls/key-value-methods.ts';
import { addMethods, type Start } from '../calls/methods.ts';
import type { HandleCalls } from '../calls/runtime.ts';
import { NearReads } from '../sending/near-reads.ts';
import { type SyncChannel, SyncSender } from '../sending/sync-sender.ts';

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
