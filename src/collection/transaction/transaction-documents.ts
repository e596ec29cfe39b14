import type { DocumentCalls } from '../calls/document-calls.ts';
import type {
  FindOptions,
  Found,
  MatchOptions,
  NewDocument,
  Params,
  SelectOption,
  Stamp,
  Stored,
} from '../document-types.ts';
import type { Patch } from '../update/update-types.ts';
import { TransactionCalls } from './transaction-calls.ts';

/**
 * A collection of documents in a transaction. Reads see the snapshot of the transaction and its own changes. The methods are
 * those of {@link DocumentCollection}; unique indexes are checked by the commit.
 */
export class TransactionDocuments<
  T extends object,
  S extends Stamp = never,
> extends TransactionCalls<DocumentCalls<T, S>> {
  get(id: string): Promise<Stored<T, S> | undefined> {
    return this.call((calls, sender) => calls.get(sender, id));
  }

  getMany(ids: readonly string[]): Promise<(Stored<T, S> | undefined)[]> {
    return this.call((calls, sender) => calls.getMany(sender, ids));
  }

  has(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<boolean> {
    return this.call((calls, sender) => calls.has(sender, params, options), options);
  }

  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L> | undefined> {
    return this.call(
      (calls, sender) => calls.find<Found<T, S, L>>(sender, params, options),
      options,
    );
  }

  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L>[]> {
    return this.call(
      (calls, sender) => calls.filter<Found<T, S, L>>(sender, params, options),
      options,
    );
  }

  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): Promise<number> {
    return this.call((calls, sender) => calls.count(sender, params, options), options);
  }

  insert(document: NewDocument<T>): Promise<Stored<T, S>> {
    return this.call((calls, sender) => calls.insert(sender, document));
  }

  insertMany(documents: readonly NewDocument<T>[]): Promise<Stored<T, S>[]> {
    return this.call((calls, sender) => calls.insertMany(sender, documents));
  }

  upsert(document: NewDocument<T>): Promise<Stored<T, S>> {
    return this.call((calls, sender) => calls.upsert(sender, document));
  }

  upsertMany(documents: readonly NewDocument<T>[]): Promise<Stored<T, S>[]> {
    return this.call((calls, sender) => calls.upsertMany(sender, documents));
  }

  update(id: string, document: NewDocument<T>): Promise<Stored<T, S> | undefined> {
    return this.call((calls, sender) => calls.update(sender, id, document));
  }

  patch(id: string, changes: Patch<T>): Promise<Stored<T, S> | undefined> {
    return this.call((calls, sender) => calls.patch(sender, id, changes));
  }

  patchMany(
    params: Params<T, S>,
    changes: Patch<T>,
    options?: MatchOptions<T, S>,
  ): Promise<number> {
    return this.call((calls, sender) => calls.patchMany(sender, params, changes, options), options);
  }

  archive(id: string): Promise<boolean> {
    return this.call((calls, sender) => calls.archive(sender, id));
  }

  unarchive(id: string): Promise<boolean> {
    return this.call((calls, sender) => calls.unarchive(sender, id));
  }

  delete(id: string): Promise<boolean> {
    return this.call((calls, sender) => calls.delete(sender, id));
  }

  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<number> {
    return this.call((calls, sender) => calls.deleteMany(sender, params, options), options);
  }
}
