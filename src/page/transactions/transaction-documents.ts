import type {
  FindOptions,
  Found,
  MatchOptions,
  NewDocument,
  Params,
  SelectOption,
  Stamp,
  Stored,
} from '../../api/document-types.ts';
import type { Patch } from '../../api/update-types.ts';
import type { DocumentCalls } from '../calls/document-calls.ts';
import { TransactionCalls } from './transaction-calls.ts';

/**
 * A collection of documents in a transaction. Reads see the snapshot of the transaction and its own
 * changes. The methods are those of {@link DocumentCollection}, without `modify`, `each`,
 * `explain`, live queries, backups, `verify`, `save` and `Drop`. In place of `modify` use `get` and
 * `update`. Unique indexes are checked by the commit.
 */
export class TransactionDocuments<
  T extends object,
  S extends Stamp = never,
  I extends object = T,
> extends TransactionCalls<DocumentCalls<T, S>> {
  get(id: string): Promise<Stored<T, S> | undefined> {
    return this.call('get', (calls, sender) => calls.get(sender, id), id);
  }

  getMany(ids: readonly string[]): Promise<(Stored<T, S> | undefined)[]> {
    return this.call('getMany', (calls, sender) => calls.getMany(sender, ids));
  }

  has(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<boolean> {
    return this.call(
      'has',
      (calls, sender) => calls.has(sender, params, options),
      undefined,
      options,
    );
  }

  find<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L> | undefined> {
    return this.call(
      'find',
      (calls, sender) => calls.find<Found<T, S, L>>(sender, params, options),
      undefined,
      options,
    );
  }

  filter<const L extends SelectOption<T, S> = undefined>(
    params: Params<T, S>,
    options?: FindOptions<T, S, L>,
  ): Promise<Found<T, S, L>[]> {
    return this.call(
      'filter',
      (calls, sender) => calls.filter<Found<T, S, L>>(sender, params, options),
      undefined,
      options,
    );
  }

  count(params?: Params<T, S>, options?: FindOptions<T, S, SelectOption<T, S>>): Promise<number> {
    return this.call(
      'count',
      (calls, sender) => calls.count(sender, params, options),
      undefined,
      options,
    );
  }

  insert(document: NewDocument<I>): Promise<Stored<T, S>> {
    return this.call('insert', (calls, sender) => calls.insert(sender, document));
  }

  insertMany(documents: readonly NewDocument<I>[]): Promise<Stored<T, S>[]> {
    return this.call('insertMany', (calls, sender) => calls.insertMany(sender, documents));
  }

  upsert(document: NewDocument<I>): Promise<Stored<T, S>> {
    return this.call('upsert', (calls, sender) => calls.upsert(sender, document));
  }

  upsertMany(documents: readonly NewDocument<I>[]): Promise<Stored<T, S>[]> {
    return this.call('upsertMany', (calls, sender) => calls.upsertMany(sender, documents));
  }

  update(id: string, document: NewDocument<I>): Promise<Stored<T, S> | undefined> {
    return this.call('update', (calls, sender) => calls.update(sender, id, document), id);
  }

  patch(id: string, changes: Patch<T>): Promise<Stored<T, S> | undefined> {
    return this.call('patch', (calls, sender) => calls.patch(sender, id, changes), id);
  }

  patchMany(
    params: Params<T, S>,
    changes: Patch<T>,
    options?: MatchOptions<T, S>,
  ): Promise<number> {
    return this.call(
      'patchMany',
      (calls, sender) => calls.patchMany(sender, params, changes, options),
      undefined,
      options,
    );
  }

  archive(id: string): Promise<boolean> {
    return this.call('archive', (calls, sender) => calls.archive(sender, id), id);
  }

  unarchive(id: string): Promise<boolean> {
    return this.call('unarchive', (calls, sender) => calls.unarchive(sender, id), id);
  }

  delete(id: string): Promise<boolean> {
    return this.call('delete', (calls, sender) => calls.delete(sender, id), id);
  }

  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<number> {
    return this.call(
      'deleteMany',
      (calls, sender) => calls.deleteMany(sender, params, options),
      undefined,
      options,
    );
  }
}
