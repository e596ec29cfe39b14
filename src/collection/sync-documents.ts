import type { DocumentCalls } from './calls/document-calls.ts';
import { type SyncChannel, SyncSender } from './calls/sync-sender.ts';
import type {
  FindOptions,
  Found,
  MatchOptions,
  NewDocument,
  Params,
  SelectOption,
  Stamp,
  Stored,
} from './document-types.ts';
import type { ModifyOptions } from './update/modify-attempts.ts';
import type { Patch } from './update/update-types.ts';

/** The methods of {@link DocumentCollection} without promises. */
export class SyncDocuments<T extends object, S extends Stamp = never, I extends object = T> {
  readonly #calls: DocumentCalls<T, S>;
  readonly #sender: SyncSender;

  constructor(collection: string, calls: DocumentCalls<T, S>, channel: SyncChannel) {
    this.#calls = calls;
    this.#sender = new SyncSender(collection, channel);
  }

  insert(document: NewDocument<I>): Stored<T, S> {
    return this.#sender.run(this.#calls.insert(this.#sender, document));
  }

  insertMany(documents: readonly NewDocument<I>[]): Stored<T, S>[] {
    return this.#sender.run(this.#calls.insertMany(this.#sender, documents));
  }

  upsert(document: NewDocument<I>): Stored<T, S> {
    return this.#sender.run(this.#calls.upsert(this.#sender, document));
  }

  upsertMany(documents: readonly NewDocument<I>[]): Stored<T, S>[] {
    return this.#sender.run(this.#calls.upsertMany(this.#sender, documents));
  }

  update(id: string, document: NewDocument<I>): Stored<T, S> | undefined {
    return this.#sender.run(this.#calls.update(this.#sender, id, document));
  }

  patch(id: string, changes: Patch<T>): Stored<T, S> | undefined {
    return this.#sender.run(this.#calls.patch(this.#sender, id, changes));
  }

  patchMany(params: Params<T, S>, changes: Patch<T>, options?: MatchOptions<T, S>): number {
    return this.#sender.run(this.#calls.patchMany(this.#sender, params, changes, options));
  }

  /** The function must return the document at once. */
  modify(
    id: string,
    change: (document: Stored<T, S>) => NewDocument<I> | undefined,
    options?: ModifyOptions,
  ): Stored<T, S> | undefined {
    return this.#sender.run(this.#calls.modify(this.#sender, id, change, options));
  }

  archive(id: string): boolean {
    return this.#sender.run(this.#calls.archive(this.#sender, id));
  }

  unarchive(id: string): boolean {
    return this.#sender.run(this.#calls.unarchive(this.#sender, id));
  }

  delete(id: string): boolean {
    return this.#sender.run(this.#calls.delete(this.#sender, id));
  }

  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): number {
    return this.#sender.run(this.#calls.deleteMany(this.#sender, params, options));
  }

  get(id: string): Stored<T, S> | undefined {
    return this.#sender.run(this.#calls.get(this.#sender, id));
  }

  getMany(ids: readonly string[]): (Stored<T, S> | undefined)[] {
    return this.#sender.run(this.#calls.getMany(this.#sender, ids));
  }

  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Found<T, S, L> | undefined {
    return this.#sender.run(this.#calls.find<Found<T, S, L>>(this.#sender, params, options));
  }

  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Found<T, S, L>[] {
    return this.#sender.run(this.#calls.filter<Found<T, S, L>>(this.#sender, params, options));
  }

  has(params: Params<T, S>, options?: MatchOptions<T, S>): boolean {
    return this.#sender.run(this.#calls.has(this.#sender, params, options));
  }

  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): number {
    return this.#sender.run(this.#calls.count(this.#sender, params, options));
  }
}
