import type { ItemParams, ValueChange } from '../../api/document-types.ts';
import type { Coroutine } from '../../async/coroutine.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { KeyValueCalls } from '../calls/key-value-calls.ts';
import type { ModifyOptions } from '../calls/modify-attempts.ts';
import type { HandleCalls, Runtime } from '../calls/runtime.ts';
import { LiveQuery } from '../live/live-query.ts';
import { checkKey } from '../sending/call-arguments.ts';
import type { CallOrder } from '../sending/call-order.ts';
import { type OpenView, type ValueReads, viewOf } from './backup-view.ts';
import { CollectionHandle } from './collection-handle.ts';
import type { SyncKeyValues } from './sync-key-values.ts';

/** A key-value collection as a backup has it, to be read. */
export interface KeyValueBackupView<V = unknown>
  extends OpenView,
    Pick<KeyValueCollection<V>, ValueReads> {}

/**
 * A collection of keys and values.
 *
 * A key is a path such as `'USER_1.friends[0].name'`, a number, or an array of segments; `\.` is a
 * literal dot. The first segment names the stored record, the rest is the path inside its value.
 * Missing parents are created.
 *
 * @example
 * ```ts
 * const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
 * await settings.set('theme.dark', true);
 * await settings.push('recent', 'inbox');
 * await settings.increase('visits', 1);
 * ```
 */
export class KeyValueCollection<V = unknown> extends CollectionHandle<
  KeyValueCalls,
  SyncKeyValues<V>
> {
  /**
   * Sets the value at a key.
   *
   * @throws {KeyError} `key_invalid`; `kind_mismatch` if the path leads through a string or another
   *   scalar.
   */
  set<T = V>(key: Key, value: T): Promise<T> {
    return this.call(
      [key, value],
      (calls, sender, at, given) => calls.set(sender, at, given) as Coroutine<T>,
    );
  }

  /** Returns the value at a key; `undefined` if there is none. */
  get<T = V>(key: Key): Promise<T | undefined> {
    return this.call(
      [key],
      (calls, sender, at) => calls.get(sender, at) as Coroutine<T | undefined>,
    );
  }

  /** Whether the key exists; with `params`, whether the array at the key has a matching item. */
  has<I = unknown>(key: Key, params?: ItemParams<I>): Promise<boolean> {
    return this.call([key, params], (calls, sender, at, given) => calls.has(sender, at, given));
  }

  /**
   * Deletes the value at a key; an item of an array is removed without a hole. Resolves with
   * whether it existed.
   */
  delete(key: Key): Promise<boolean> {
    return this.call([key], (calls, sender, at) => calls.delete(sender, at));
  }

  /**
   * Appends an item to the array at a key, which is created if missing. Resolves with the array.
   */
  push<I = unknown>(key: Key, item: I): Promise<I[]> {
    return this.call(
      [key, item],
      (calls, sender, at, given) => calls.push(sender, at, given) as Coroutine<I[]>,
    );
  }

  /** Removes the matching items from the array at a key. Resolves with the array. */
  remove<I = unknown>(key: Key, params: ItemParams<I>): Promise<I[]> {
    return this.call(
      [key, params],
      (calls, sender, at, given) => calls.remove(sender, at, given) as Coroutine<I[]>,
      { exclusive: typeof params === 'function' },
    );
  }

  /**
   * Replaces the value at a key by what a function makes of it. The function gets a copy,
   * `undefined` if there is none, and may be async. It runs again if somebody changed the value
   * meanwhile.
   *
   * @param change Returns the new value; `undefined` changes nothing.
   * @returns the value.
   * @throws {TransactionError} `transaction_conflict` after too many conflicts; or what the
   *   function throws.
   *
   * @example
   * ```ts
   * await settings.modify<string[]>('recent', (names = []) => ['inbox', ...names].slice(0, 5));
   * ```
   */
  modify<T = V>(
    key: Key,
    change: (value: T | undefined) => T | undefined | Promise<T | undefined>,
    options?: ModifyOptions,
  ): Promise<T | undefined> {
    return this.call(
      [key, change, options],
      (calls, sender, at, make, given) =>
        calls.modify(sender, at, make, given) as Coroutine<T | undefined>,
      { options },
    );
  }

  /** Finds the first matching item of the array at a key; `undefined` if there is none. */
  find<I = unknown>(key: Key, params: ItemParams<I>): Promise<I | undefined> {
    return this.call(
      [key, params],
      (calls, sender, at, given) => calls.find(sender, at, given) as Coroutine<I | undefined>,
    );
  }

  /** Finds all matching items of the array at a key. */
  filter<I = unknown>(key: Key, params: ItemParams<I>): Promise<I[]> {
    return this.call(
      [key, params],
      (calls, sender, at, given) => calls.filter(sender, at, given) as Coroutine<I[]>,
    );
  }

  /** Adds to the number at a key; a missing one starts at 0. Resolves with the sum. */
  increase(key: Key, number: number): Promise<number> {
    return this.call([key, number], (calls, sender, at, by) => calls.increase(sender, at, by));
  }

  /**
   * Subtracts from the number at a key; a missing one starts at 0. Resolves with the difference.
   */
  decrease(key: Key, number: number): Promise<number> {
    return this.call([key, number], (calls, sender, at, by) => calls.decrease(sender, at, by));
  }

  /** The names of the records, the first segments of keys, in insertion order. */
  keys(): Promise<string[]> {
    return this.call([], (calls, sender) => calls.keys(sender));
  }

  /** The records with their values. */
  entries<T = V>(): Promise<[string, T][]> {
    return this.call([], (calls, sender) => calls.entries(sender) as Coroutine<[string, T][]>);
  }

  /** The number of records. */
  count(): Promise<number> {
    return this.call([], (calls, sender) => calls.count(sender));
  }

  /**
   * Shows the collection as a backup has it, without restoring it, as `at` of a document collection
   * does.
   */
  at(backup: string): KeyValueBackupView<V> {
    return viewOf(this, KeyValueCollection.prototype, backup);
  }

  /**
   * Compares a backup with a later one, or with now, as `diff` of a document collection does. Paths
   * lie in the value.
   */
  async *diff(from: string, to?: string): AsyncGenerator<ValueChange<V>, void, undefined> {
    yield* await this.call([from, to], (calls, sender, one, other) =>
      calls.diff<ValueChange<V>>(sender, this.liveBase, one, other),
    );
  }

  /**
   * Makes a {@link LiveQuery} of the value at a key; `undefined` while there is none.
   *
   * @throws {KeyError} `key_invalid`
   *
   * @example
   * ```ts
   * const dark = settings.live<boolean>('theme.dark');
   * dark.subscribe(({ data }) => document.body.classList.toggle('dark', data));
   * ```
   */
  live<T = V>(key: Key): LiveQuery<T | undefined> {
    return new LiveQuery({ ...this.liveBase, key: checkKey(key), throttle: 0 });
  }

  protected open(runtime: Runtime, order: CallOrder): HandleCalls<KeyValueCalls> {
    return runtime.openKeyValues(this.settings, order, this);
  }

  protected async loadSync({
    calls,
    channel,
  }: HandleCalls<KeyValueCalls>): Promise<SyncKeyValues<V>> {
    const { SyncKeyValues } = await import('./sync-key-values.ts');
    return new SyncKeyValues(this.name, calls, channel);
  }
}
