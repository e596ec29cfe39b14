import type { ItemParams } from '../../api/document-types.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { KeyValueCalls } from '../calls/key-value-calls.ts';
import type { ModifyOptions } from '../calls/modify-attempts.ts';
import { type SyncChannel, SyncSender } from '../sending/sync-sender.ts';

/** The methods of {@link KeyValueCollection} without promises. */
export class SyncKeyValues<V = unknown> {
  readonly #calls: KeyValueCalls;
  readonly #sender: SyncSender;

  constructor(collection: string, calls: KeyValueCalls, channel: SyncChannel) {
    this.#calls = calls;
    this.#sender = new SyncSender(collection, channel);
  }

  set<T = V>(key: Key, value: T): T {
    return this.#sender.run((sender) => this.#calls.set(sender, key, value)) as T;
  }

  get<T = V>(key: Key): T | undefined {
    return this.#sender.run((sender) => this.#calls.get(sender, key)) as T | undefined;
  }

  has<I = unknown>(key: Key, params?: ItemParams<I>): boolean {
    return this.#sender.run((sender) => this.#calls.has(sender, key, params));
  }

  delete(key: Key): boolean {
    return this.#sender.run((sender) => this.#calls.delete(sender, key));
  }

  push<I = unknown>(key: Key, item: I): I[] {
    return this.#sender.run((sender) => this.#calls.push(sender, key, item)) as I[];
  }

  remove<I = unknown>(key: Key, params: ItemParams<I>): I[] {
    return this.#sender.run((sender) => this.#calls.remove(sender, key, params)) as I[];
  }

  /** The function must return the value at once. */
  modify<T = V>(
    key: Key,
    change: (value: T | undefined) => T | undefined,
    options?: ModifyOptions,
  ): T | undefined {
    return this.#sender.run((sender) => this.#calls.modify(sender, key, change, options)) as
      | T
      | undefined;
  }

  find<I = unknown>(key: Key, params: ItemParams<I>): I | undefined {
    return this.#sender.run((sender) => this.#calls.find(sender, key, params)) as I | undefined;
  }

  filter<I = unknown>(key: Key, params: ItemParams<I>): I[] {
    return this.#sender.run((sender) => this.#calls.filter(sender, key, params)) as I[];
  }

  increase(key: Key, number: number): number {
    return this.#sender.run((sender) => this.#calls.increase(sender, key, number));
  }

  decrease(key: Key, number: number): number {
    return this.#sender.run((sender) => this.#calls.decrease(sender, key, number));
  }

  keys(): string[] {
    return this.#sender.run((sender) => this.#calls.keys(sender));
  }

  entries<T = V>(): [string, T][] {
    return this.#sender.run((sender) => this.#calls.entries(sender)) as [string, T][];
  }

  count(): number {
    return this.#sender.run((sender) => this.#calls.count(sender));
  }
}
