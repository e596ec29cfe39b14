import type {
  AnyDocument,
  Given,
  MatchOptions,
  NewDocument,
  Params,
  Stamp,
  Stored,
} from '../../api/document-types.ts';
import type { Patch } from '../../api/update-types.ts';
import type { DocumentCalls } from '../calls/document-calls.ts';
import type { ModifyOptions } from '../calls/modify-attempts.ts';
import type { HandleCalls, Runtime } from '../calls/runtime.ts';
import { copyList } from '../sending/call-arguments.ts';
import type { CallOrder } from '../sending/call-order.ts';
import { DocumentQueries } from './document-queries.ts';
import type { SyncDocuments } from './sync-documents.ts';

/**
 * A collection of documents.
 *
 * Calls take effect in the order in which they are made, awaited or not. Arguments are copied;
 * results belong to the caller. A call resolves when the engine has executed it; `save()` resolves
 * when it is in storage.
 *
 * `T` is the type of the documents, `S` their stamps, such as `'_created_at'` with
 * `indicate_created_at: true`, and `I` the type of what goes in, which a schema may turn into
 * another.
 *
 * @example
 * ```ts
 * interface User {
 *   name: string;
 *   age: number;
 * }
 * const users = new db.Collection<User>({ name: 'users', type: 'DOCUMENT_BASED' });
 * const ada = await users.insert({ name: 'Ada', age: 36 });
 * await users.filter({ age: { $gte: 18 } });
 * await users.update(ada._id, { name: 'Ada', age: 37 });
 * ```
 */
export class DocumentCollection<
  T extends object = AnyDocument,
  S extends Stamp = never,
  I extends object = T,
> extends DocumentQueries<T, S, I> {
  /**
   * Inserts a document. Its `_id` counts if it has one; other managed fields are ignored.
   *
   * @returns the stored document: managed fields first, then the caller's.
   * @throws {ValueError} `id_taken`; or with the path of a value that cannot be stored.
   */
  insert(document: Given<I, S>): Promise<Stored<T, S>> {
    return this.call([document], (calls, sender, given) => calls.insert(sender, given));
  }

  /**
   * Inserts many documents, all or none. A large list is encoded in slices, which keeps the page
   * responsive: do not change its documents until the promise settles.
   *
   * @throws {ValueError} with the path of the invalid value, such as `documents[3].name`.
   */
  insertMany(documents: readonly Given<I, S>[]): Promise<Stored<T, S>[]> {
    return this.call([documents], (calls, sender, list) => calls.insertMany(sender, list), {
      exclusive: true,
      copy: copyList,
    });
  }

  /** Replaces the document with this `_id`, like `update`, or inserts it. */
  upsert(document: Given<I, S>): Promise<Stored<T, S>> {
    return this.call([document], (calls, sender, given) => calls.upsert(sender, given));
  }

  /**
   * Replaces or inserts many documents, like {@link upsert}, all or none. Of two with one `_id` the
   * later counts.
   */
  upsertMany(documents: readonly Given<I, S>[]): Promise<Stored<T, S>[]> {
    return this.call([documents], (calls, sender, list) => calls.upsertMany(sender, list), {
      exclusive: true,
      copy: copyList,
    });
  }

  /**
   * Replaces the caller's fields of a document. There are no operators: `{ $set: … }` is a field of
   * that name.
   *
   * @returns the document; `undefined` if no document has this id.
   */
  update(id: string, document: Given<I, S>): Promise<Stored<T, S> | undefined> {
    return this.call([id, document], (calls, sender, key, given) =>
      calls.update(sender, key, given),
    );
  }

  /**
   * Changes a document: sets fields, by name or by dotted path such as `'address.city'`, or applies
   * update operators. `undefined` as a new value is stored, it does not remove the field.
   *
   * @returns the document; `undefined` if no document has this id.
   * @throws {ValueError} `update_invalid` with the path in the changes; {KeyError} `kind_mismatch`
   *   if the stored value is of another kind than the change needs, `paths_conflict` if a path
   *   begins with another; {CriteriaError} in `$pull`.
   *
   * @example
   * ```ts
   * await users.patch(ada._id, { age: 37, 'address.city': 'Oslo' });
   * await users.patch(ada._id, { $inc: { age: 1 }, $push: { tags: 'climber' } });
   * ```
   */
  patch(id: string, changes: Patch<T>): Promise<Stored<T, S> | undefined> {
    return this.call([id, changes], (calls, sender, key, given) => calls.patch(sender, key, given));
  }

  /**
   * Changes all matching documents as {@link patch} does, all or none.
   *
   * @returns how many matched.
   *
   * @example
   * ```ts
   * await users.patchMany({ city: 'Oslo' }, { $inc: { visits: 1 } });
   * ```
   */
  patchMany(
    params: Params<T, S>,
    changes: Patch<T>,
    options?: MatchOptions<T, S>,
  ): Promise<number> {
    return this.call(
      [params, changes, options],
      (calls, sender, query, given, more) => calls.patchMany(sender, query, given, more),
      { options, exclusive: hasFunction(params, options) },
    );
  }

  /**
   * Replaces a document by what a function makes of it. The function gets a copy and may be async.
   * It runs again if somebody changed the document meanwhile, so its side effects must bear
   * repetition. Where update operators suffice, they are faster.
   *
   * @param change Returns the new content; `undefined` changes nothing.
   * @returns the document; `undefined` if no document has this id.
   * @throws {TransactionError} `transaction_conflict` after too many conflicts; or what the
   *   function throws.
   *
   * @example
   * ```ts
   * await users.modify(ada._id, (user) => ({ ...user, name: user.name.trim() }));
   * ```
   */
  modify(
    id: string,
    change: (
      document: Stored<T, S>,
    ) => NewDocument<I> | undefined | Promise<NewDocument<I> | undefined>,
    options?: ModifyOptions,
  ): Promise<Stored<T, S> | undefined> {
    return this.call(
      [id, change, options],
      (calls, sender, key, make, given) => calls.modify(sender, key, make, given),
      { options },
    );
  }

  /**
   * Puts a document back as a backup has it, managed fields included. One that exists keeps its
   * place in insertion order, another comes last. An ordinary change: it is saved, replicated and
   * shown by live queries as any.
   *
   * @returns the document.
   * @throws {BackupError} `document_unknown` if the backup does not have it, `backup_unknown`,
   *   `backup_damaged`; {ValueError} `unique_violation`, `schema_violation`. Nothing is changed
   *   then.
   *
   * @example
   * ```ts
   * await notes.restoreDocument(id, backup);
   * ```
   */
  restoreDocument(id: string, backup: string): Promise<Stored<T, S>> {
    const { version } = this.settings;
    return this.call(
      [id, backup],
      (calls, sender, key, name) => calls.restoreDocument(sender, key, name, version),
      { exclusive: true },
    );
  }

  /**
   * Archives a document. Resolves with `false` if no document has this id, or it is archived
   * already.
   */
  archive(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.archive(sender, key));
  }

  /**
   * Unarchives a document. Resolves with `false` if no document has this id, or it is not archived.
   */
  unarchive(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.unarchive(sender, key));
  }

  /** Deletes a document. Resolves with `false` if no document has this id. */
  delete(id: string): Promise<boolean> {
    return this.call([id], (calls, sender, key) => calls.delete(sender, key));
  }

  /** Deletes the matching documents. Resolves with their number. */
  deleteMany(params: Params<T, S>, options?: MatchOptions<T, S>): Promise<number> {
    return this.call(
      [params, options],
      (calls, sender, query, given) => calls.deleteMany(sender, query, given),
      { options, exclusive: hasFunction(params, options) },
    );
  }

  protected open(runtime: Runtime, order: CallOrder): HandleCalls<DocumentCalls<T, S>> {
    return runtime.openDocuments(this.settings, order, this);
  }

  protected async loadSync({
    calls,
    channel,
  }: HandleCalls<DocumentCalls<T, S>>): Promise<SyncDocuments<T, S, I>> {
    const { openSync } = await import('./sync-documents.ts');
    return openSync(this.settings, calls, channel);
  }
}

/**
 * Whether a function of the caller chooses the documents: it runs in this thread, between two
 * requests.
 */
function hasFunction(params: unknown, options: { readonly where?: unknown } | undefined): boolean {
  return typeof params === 'function' || options?.where !== undefined;
}
