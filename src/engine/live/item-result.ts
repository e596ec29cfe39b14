import { type Body, encode, peek } from '../../codec/body.ts';
import { sameBody } from '../../codec/same-value.ts';
import { getAt, hasAt, type ValuePath } from '../paths/value-path.ts';
import type { LiveNews } from '../protocol/live-protocol.ts';
import type { Coroutine } from '../scheduling/coroutine.ts';
import type { Records } from '../snapshots/records.ts';
import type { LiveResult } from './live-result.ts';
import { managedOf } from './same-version.ts';

/** One record, or the value at a path inside it: a list of one or none. */
export class ItemResult implements LiveResult {
  readonly #records: Records;
  readonly #key: string;
  readonly #path: ValuePath;
  /** What the reader has, `undefined` before the first: the managed values and the body, where there is a value. */
  #told: { readonly managed: string; readonly body: Body | undefined } | undefined;

  constructor(records: Records, key: string, path: ValuePath) {
    this.#records = records;
    this.#key = key;
    this.#path = path;
  }

  update(keys: ReadonlySet<string>): boolean {
    return keys.has(this.#key);
  }

  reload(): void {
    // It looks at the record each time.
  }

  *next(): Coroutine<LiveNews | undefined> {
    const record = this.#records.get(this.#key);
    const body = record && this.#part(yield* this.#records.bodies.of(record));
    const before = this.#told;
    const there = record !== undefined && body !== undefined;
    const managed = there ? managedOf(record) : '';
    if (before?.managed === managed && (!there || sameBody(before.body, body))) return undefined;
    this.#told = { managed, body };
    return {
      removed: before?.managed ? [0] : [],
      indexes: there ? [0] : [],
      keys: there ? [record.key] : [],
      flags: Uint8Array.from(there ? [record.flags] : []),
      stamps: record?.stamps && [record.stamps],
      bodies: there ? [body] : [],
      records: there ? [record] : [],
      more: false,
    };
  }

  #part(whole: Body): Body | undefined {
    if (this.#path.length === 0) return whole;
    const root = peek(whole);
    return hasAt(root, this.#path) ? encode(getAt(root, this.#path), 'value') : undefined;
  }
}
