import type { Key } from '../engine/protocol/requests.ts';
import type { Coroutine } from '../engine/scheduling/coroutine.ts';
import type { CallOrder } from './calls/call-order.ts';
import { checkKey } from './calls/item-checks.ts';
import type { KeyValueCalls } from './calls/key-value-calls.ts';
import type { HandleCalls, Runtime } from './calls/runtime.ts';
import { CollectionHandle } from './collection-handle.ts';
import type { ItemParams } from './item-params.ts';
import { LiveQuery } from './live/live-query.ts';
import type { SyncKeyValues } from './sync-key-values.ts';

/**
 * A collection of keys and values.
 *
 * A key is a path such as `'USER_1.friends[0].name'`, a number, or an array of segments; `\.` stands for a
 * dot. The first segment names the record that is stored, the rest is the way inside its value. Missing
 * parents are made.
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
   * @throws {KeyError} `key_invalid`, or `kind_mismatch` when the way leads through a string or the like.
   */
  set<T = V>(key: Key, value: T): Promise<T> {
    return this.call(
      [key, value],
      (calls, sender, at, given) => calls.set(sender, at, given) as Coroutine<T>,
    );
  }

  /** The value at a key, or `undefined`. */
  get<T = V>(key: Key): Promise<T | undefined> {
    return this.call(
      [key],
      (calls, sender, at) => calls.get(sender, at) as Coroutine<T | undefined>,
    );
  }

  /** Whether the key exists; with `params`, whether the array there has such an item. */
  has<I = unknown>(key: Key, params?: ItemParams<I>): Promise<boolean> {
    return this.call([key, params], (calls, sender, at, given) => calls.has(sender, at, given));
  }

  /** Removes what is at a key; an item of an array is taken out. Resolves with whether there was something. */
  delete(key: Key): Promise<boolean> {
    return this.call([key], (calls, sender, at) => calls.delete(sender, at));
  }

  /** Adds an item to the end of the array at a key, which is made if missing. Resolves with the array. */
  push<I = unknown>(key: Key, item: I): Promise<I[]> {
    return this.call(
      [key, item],
      (calls, sender, at, given) => calls.push(sender, at, given) as Coroutine<I[]>,
    );
  }

  /** Removes the items that match from the array at a key. Resolves with the array. */
  remove<I = unknown>(key: Key, params: ItemParams<I>): Promise<I[]> {
    return this.call(
      [key, params],
      (calls, sender, at, given) => calls.remove(sender, at, given) as Coroutine<I[]>,
      { exclusive: typeof params === 'function' },
    );
  }

  /** The first item of the array at a key that matches, or `undefined`. */
  find<I = unknown>(key: Key, params: ItemParams<I>): Promise<I | undefined> {
    return this.call(
      [key, params],
      (calls, sender, at, given) => calls.find(sender, at, given) as Coroutine<I | undefined>,
    );
  }

  /** All items of the array at a key that match. */
  filter<I = unknown>(key: Key, params: ItemParams<I>): Promise<I[]> {
    return this.call(
      [key, params],
      (calls, sender, at, given) => calls.filter(sender, at, given) as Coroutine<I[]>,
    );
  }

  /** Adds to the number at a key; a missing one starts at 0. Resolves with the number. */
  increase(key: Key, number: number): Promise<number> {
    return this.call([key, number], (calls, sender, at, by) => calls.increase(sender, at, by));
  }

  /** Takes from the number at a key; a missing one starts at 0. Resolves with the number. */
  decrease(key: Key, number: number): Promise<number> {
    return this.call([key, number], (calls, sender, at, by) => calls.decrease(sender, at, by));
  }

  /** The records: first segments of the keys, in order of insertion. */
  keys(): Promise<string[]> {
    return this.call([], (calls, sender) => calls.keys(sender));
  }

  /** The records with their values. */
  entries<T = V>(): Promise<[string, T][]> {
    return this.call([], (calls, sender) => calls.entries(sender) as Coroutine<[string, T][]>);
  }

  /** How many records there are. */
  count(): Promise<number> {
    return this.call([], (calls, sender) => calls.count(sender));
  }

  /**
   * The value at a key, for as long as somebody looks; `undefined` while there is none.
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
    return runtime.openKeyValues(this.settings, order);
  }

  protected async loadSync({
    calls,
    channel,
  }: HandleCalls<KeyValueCalls>): Promise<SyncKeyValues<V>> {
    const { SyncKeyValues } = await import('./sync-key-values.ts');
    return new SyncKeyValues(this.name, calls, channel);
  }
}
