import type { Key } from '../engine/protocol/requests.ts';
import type { KeyValueExchanges } from './calls/key-value-exchanges.ts';
import { runNow, type SyncPort } from './calls/run-now.ts';
import type { ItemParams } from './item-params.ts';

/** The methods of {@link KeyValueCollection} without promises. */
export class SyncKeyValues<V = unknown> {
  readonly #exchanges: KeyValueExchanges;
  readonly #port: SyncPort;

  constructor(exchanges: KeyValueExchanges, port: SyncPort) {
    this.#exchanges = exchanges;
    this.#port = port;
  }

  set<T = V>(key: Key, value: T): T {
    return runNow(this.#port, this.#exchanges.set(key, value)) as T;
  }

  get<T = V>(key: Key): T | undefined {
    return runNow(this.#port, this.#exchanges.get(key)) as T | undefined;
  }

  has<I = unknown>(key: Key, params?: ItemParams<I>): boolean {
    return runNow(this.#port, this.#exchanges.has(key, params));
  }

  delete(key: Key): boolean {
    return runNow(this.#port, this.#exchanges.delete(key));
  }

  push<I = unknown>(key: Key, item: I): I[] {
    return runNow(this.#port, this.#exchanges.push(key, item)) as I[];
  }

  remove<I = unknown>(key: Key, params: ItemParams<I>): I[] {
    return runNow(this.#port, this.#exchanges.remove(key, params)) as I[];
  }

  find<I = unknown>(key: Key, params: ItemParams<I>): I | undefined {
    return runNow(this.#port, this.#exchanges.find(key, params)) as I | undefined;
  }

  filter<I = unknown>(key: Key, params: ItemParams<I>): I[] {
    return runNow(this.#port, this.#exchanges.filter(key, params)) as I[];
  }

  increase(key: Key, number: number): number {
    return runNow(this.#port, this.#exchanges.add(key, number, 1));
  }

  decrease(key: Key, number: number): number {
    return runNow(this.#port, this.#exchanges.add(key, number, -1));
  }

  keys(): string[] {
    return runNow(this.#port, this.#exchanges.keys());
  }

  entries<T = V>(): [string, T][] {
    return runNow(this.#port, this.#exchanges.entries()) as [string, T][];
  }

  count(): number {
    return runNow(this.#port, this.#exchanges.count());
  }
}
