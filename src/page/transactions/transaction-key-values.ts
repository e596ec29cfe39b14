import type { ItemParams } from '../../api/document-types.ts';
import type { Coroutine } from '../../async/coroutine.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { KeyValueCalls } from '../calls/key-value-calls.ts';
import { TransactionCalls } from './transaction-calls.ts';

/**
 * A collection of keys and values in a transaction. Reads see the snapshot of the transaction and
 * its own changes. The methods are those of {@link KeyValueCollection}, without `modify`, backups,
 * `verify`, `save` and `Drop`. In place of `modify` use `get` and `set`.
 */
export class TransactionKeyValues<V = unknown> extends TransactionCalls<KeyValueCalls> {
  set<T = V>(key: Key, value: T): Promise<T> {
    return this.call('set', (calls, sender) => calls.set(sender, key, value) as Coroutine<T>, key);
  }

  get<T = V>(key: Key): Promise<T | undefined> {
    return this.call(
      'get',
      (calls, sender) => calls.get(sender, key) as Coroutine<T | undefined>,
      key,
    );
  }

  has<I = unknown>(key: Key, params?: ItemParams<I>): Promise<boolean> {
    return this.call('has', (calls, sender) => calls.has(sender, key, params), key);
  }

  delete(key: Key): Promise<boolean> {
    return this.call('delete', (calls, sender) => calls.delete(sender, key), key);
  }

  push<I = unknown>(key: Key, item: I): Promise<I[]> {
    return this.call(
      'push',
      (calls, sender) => calls.push(sender, key, item) as Coroutine<I[]>,
      key,
    );
  }

  remove<I = unknown>(key: Key, params: ItemParams<I>): Promise<I[]> {
    return this.call(
      'remove',
      (calls, sender) => calls.remove(sender, key, params) as Coroutine<I[]>,
      key,
    );
  }

  find<I = unknown>(key: Key, params: ItemParams<I>): Promise<I | undefined> {
    return this.call(
      'find',
      (calls, sender) => calls.find(sender, key, params) as Coroutine<I | undefined>,
      key,
    );
  }

  filter<I = unknown>(key: Key, params: ItemParams<I>): Promise<I[]> {
    return this.call(
      'filter',
      (calls, sender) => calls.filter(sender, key, params) as Coroutine<I[]>,
      key,
    );
  }

  increase(key: Key, number: number): Promise<number> {
    return this.call('increase', (calls, sender) => calls.increase(sender, key, number), key);
  }

  decrease(key: Key, number: number): Promise<number> {
    return this.call('decrease', (calls, sender) => calls.decrease(sender, key, number), key);
  }

  keys(): Promise<string[]> {
    return this.call('keys', (calls, sender) => calls.keys(sender));
  }

  entries<T = V>(): Promise<[string, T][]> {
    return this.call(
      'entries',
      (calls, sender) => calls.entries(sender) as Coroutine<[string, T][]>,
    );
  }

  count(): Promise<number> {
    return this.call('count', (calls, sender) => calls.count(sender));
  }
}
