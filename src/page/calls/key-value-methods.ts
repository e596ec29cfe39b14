import type { ItemParams } from '../../api/document-types.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { KeyValueCalls } from './key-value-calls.ts';
import type { Methods, Returns, Way } from './methods.ts';
import type { ModifyOptions } from './modify-attempts.ts';

/** The methods of a key-value collection that read; backups have them too. */
export interface KeyValueReads<V, W extends Way> {
  /** Returns the value at a key; `undefined` if there is none. */
  get<T = V>(key: Key): Returns<W, T | undefined>;

  /** Whether the key exists; with `params`, whether the array at the key has a matching item. */
  has<I = unknown>(key: Key, params?: ItemParams<I>): Returns<W, boolean>;

  /** Finds the first matching item of the array at a key; `undefined` if there is none. */
  find<I = unknown>(key: Key, params: ItemParams<I>): Returns<W, I | undefined>;

  /** Finds all matching items of the array at a key. */
  filter<I = unknown>(key: Key, params: ItemParams<I>): Returns<W, I[]>;

  /** The number of records. */
  count(): Returns<W, number>;

  /** The names of the records, the first segments of keys, in insertion order. */
  keys(): Returns<W, string[]>;

  /** The records with their values. */
  entries<T = V>(): Returns<W, [string, T][]>;
}

/**
 * The methods of a key-value collection that its façades share: the collection, its `sync`, and
 * transactions. The rows below name their coroutines.
 */
export interface KeyValueMethods<V, W extends Way> extends KeyValueReads<V, W> {
  /**
   * Sets the value at a key.
   *
   * @throws {KeyError} `key_invalid`; `kind_mismatch` if the path leads through a string or another
   *   scalar.
   */
  set<T = V>(key: Key, value: T): Returns<W, T>;

  /**
   * Deletes the value at a key; an item of an array is removed without a hole. Resolves with
   * whether it existed.
   */
  delete(key: Key): Returns<W, boolean>;

  /**
   * Appends an item to the array at a key, which is created if missing. Resolves with the array.
   */
  push<I = unknown>(key: Key, item: I): Returns<W, I[]>;

  /** Removes the matching items from the array at a key. Resolves with the array. */
  remove<I = unknown>(key: Key, params: ItemParams<I>): Returns<W, I[]>;

  /**
   * Replaces the value at a key by what a function makes of it. The function gets a copy,
   * `undefined` if there is none, and may be async, except in `sync`. It runs again if somebody
   * changed the value meanwhile.
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
    change: (value: T | undefined) => T | undefined | Returns<W, T | undefined>,
    options?: ModifyOptions,
  ): Returns<W, T | undefined>;

  /** Adds to the number at a key; a missing one starts at 0. Resolves with the sum. */
  increase(key: Key, number: number): Returns<W, number>;

  /**
   * Subtracts from the number at a key; a missing one starts at 0. Resolves with the difference.
   */
  decrease(key: Key, number: number): Returns<W, number>;

  /** Documents are aggregated; calls of this reject. */
  aggregate: never;
}

/** How the methods run that read. */
export const keyValueReads: Methods<KeyValueCalls, KeyValueReads<unknown, 'sync'>> = {
  get: { start: (calls) => calls.get },
  has: { start: (calls) => calls.has },
  find: { start: (calls) => calls.find },
  filter: { start: (calls) => calls.filter },
  count: { start: (calls) => calls.count },
  keys: { start: (calls) => calls.keys },
  entries: { start: (calls) => calls.entries },
};

/** How the methods run. */
export const keyValueMethods: Methods<KeyValueCalls, KeyValueMethods<unknown, 'sync'>> = {
  ...keyValueReads,
  aggregate: { start: (calls: KeyValueCalls) => calls.aggregate, options: 1 } as never,
  set: { start: (calls) => calls.set },
  delete: { start: (calls) => calls.delete },
  push: { start: (calls) => calls.push },
  remove: {
    start: (calls) => calls.remove,
    exclusive: (_, params) => typeof params === 'function',
  },
  modify: { start: (calls) => calls.modify, options: 2 },
  increase: { start: (calls) => calls.increase },
  decrease: { start: (calls) => calls.decrease },
};
