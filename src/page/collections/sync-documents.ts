import type {
  FindOptions,
  Found,
  Given,
  MatchOptions,
  NewDocument,
  Params,
  Read,
  SelectOption,
  Stamp,
  Stored,
} from '../../api/document-types.ts';
import type { Patch } from '../../api/update-types.ts';
import type { Result } from '../../async/coroutine.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { DocumentCalls } from '../calls/document-calls.ts';
import type { ModifyOptions } from '../calls/modify-attempts.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import { NearReads } from '../sending/near-reads.ts';
import { type SyncChannel, SyncSender } from '../sending/sync-sender.ts';

/** The methods of {@link DocumentCollection} without promises. */
export class SyncDocuments<T extends object, S extends Stamp = never, I extends object = T> {
  readonly #calls: DocumentCalls<T, S>;
  readonly #sender: SyncSender;

  /** @param near Reads that need no request; in a transaction all do. */
  constructor(
    collection: string,
    calls: DocumentCalls<T, S>,
    channel: SyncChannel,
    near?: NearReads,
  ) {
    this.#calls = calls;
    this.#sender = new SyncSender(collection, channel, near);
  }

  insert(document: Given<I, S>): Stored<T, S> {
    return this.#sender.run((sender) => this.#calls.insert(sender, document));
  }

  insertMany(documents: readonly Given<I, S>[]): Stored<T, S>[] {
    return this.#sender.run((sender) => this.#calls.insertMany(sender, documents));
  }

  upsert(document: Given<I, S>): Stored<T, S> {
    return this.#sender.run((sender) => this.#calls.upsert(sender, document));
  }

  upsertMany(documents: readonly Given<I, S>[]): Stored<T, S>[] {
    return this.#sender.run((sender) => this.#calls.upsertMany(sender, documents));
  }

  update(id: string, document: Given<I, S>): Stored<T, S> | undefined {
    return this.#sender.run((sender) => this.#calls.update(sender, id, document));
  }

  patch(id: string, changes: Patch<T>): Stored<T, S> | undefined {
    return this.#sender.run((sender) => this.#calls.patch(sender, id, changes));
  }

  patchMany(params: Params<T, S>, changes: Patch<T>, options?: MatchOptions<T, S>): number {
    return this.#sender.run((sender) => this.#calls.patchMany(sender, params, changes, options));
  }

  /** The function must return the document at once. */
  modify(
    id: string,
    change: (document: Stored<T, S>) => NewDocument<I> | undefined,
    options?: ModifyOptions,
  ): Stored<T, S> | undefined {
    return this.#sender.run((sender) => this.#calls.modify(sender, id, change, options));
  }

  archive(id: string): boolean {
    return this.#sender.run((sender) => this.#calls.archive(sender, id));
  }

  unarchive(id: string): boolean {
    return this.#sender.run((sender) => this.#calls.unarchive(sender, id));
  }

  delete(id: string): boolean {
    return this.#sender.run((sender) => this.#calls.delete(sender, id));
  }

  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): number {
    return this.#sender.run((sender) => this.#calls.deleteMany(sender, params, options));
  }

  get(id: string): Read<T, S> | undefined {
    return this.#sender.run(
      (sender) => this.#calls.get(sender, id) as Result<Read<T, S> | undefined>,
    );
  }

  getMany(ids: readonly string[]): (Read<T, S> | undefined)[] {
    return this.#sender.run((sender) => this.#calls.getMany(sender, ids) as Result<Read<T, S>[]>);
  }

  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Found<T, S, L> | undefined {
    return this.#sender.run((sender) => this.#calls.find<Found<T, S, L>>(sender, params, options));
  }

  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Found<T, S, L>[] {
    return this.#sender.run((sender) =>
      this.#calls.filter<Found<T, S, L>>(sender, params, options),
    );
  }

  has(params: Params<T, S>, options?: MatchOptions<T, S>): boolean {
    return this.#sender.run((sender) => this.#calls.has(sender, params, options));
  }

  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): number {
    return this.#sender.run((sender) => this.#calls.count(sender, params, options));
  }
}

/** The methods of an open handle. */
export function openSync<T extends object, S extends Stamp, I extends object>(
  settings: CollectionSettings,
  calls: DocumentCalls<T, S>,
  channel: HandleChannel,
): SyncDocuments<T, S, I> {
  const near = new NearReads(channel, settings);
  // Where the collection cannot be read after all, the next read says so.
  near.prepare().catch(() => undefined);
  return new SyncDocuments(settings.name, calls, channel, near);
}
