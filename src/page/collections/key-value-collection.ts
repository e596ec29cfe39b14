import type { ValueChange } from '../../api/document-types.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { KeyValueCalls } from '../calls/key-value-calls.ts';
import {
  type KeyValueMethods,
  type KeyValueReads,
  keyValueMethods,
  keyValueReads,
} from '../calls/key-value-methods.ts';
import { addMethods } from '../calls/methods.ts';
import { LiveQuery } from '../live/live-query.ts';
import { checkKey } from '../sending/call-arguments.ts';
import { type OpenView, viewOf } from './backup-view.ts';
import { CollectionHandle } from './collection-handle.ts';
import type { SyncKeyValues } from './sync-methods.ts';

/** A key-value collection as a backup has it, to be read. */
export interface KeyValueBackupView<V = unknown> extends OpenView, KeyValueReads<V, 'async'> {}

export interface KeyValueCollection<V = unknown> extends KeyValueMethods<V, 'async'> {}

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
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: `addMethods` makes them.
export class KeyValueCollection<V = unknown> extends CollectionHandle<
  KeyValueCalls,
  SyncKeyValues<V>
> {
  static {
    addMethods(this, keyValueMethods);
  }

  /**
   * Shows the collection as a backup has it, without restoring it, as `at` of a document collection
   * does.
   */
  at(backup: string): KeyValueBackupView<V> {
    return viewOf(this, KeyValueCollection.prototype, Object.keys(keyValueReads), backup);
  }

  /**
   * Compares a backup with a later one, or with now, as `diff` of a document collection does. Paths
   * lie in the value.
   */
  async *diff(from: string, to?: string): AsyncGenerator<ValueChange<V>, void, undefined> {
    yield* await this.call(
      (calls) => (sender, one, other) =>
        calls.diff<ValueChange<V>>(sender, this.liveBase, one, other),
      [from, to],
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
}
