import type { Coroutine } from '../../async/coroutine.ts';
import { type Body, peek } from '../../codec/body.ts';
import { decode, encode } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CollectionError, ValueError } from '../../errors/errors.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { RequestFlags } from '../../protocol/requests.ts';
import { parseKey } from '../../query/path/key-path.ts';
import { checkCriteria, passesPredicate } from '../find/find-query.ts';
import { copyCriteria } from '../find/search.ts';
import type { ValueSchema } from '../schemas.ts';
import { checkKey } from '../sending/call-arguments.ts';
import { request, type Sender } from '../sending/sender.ts';
import { CommonCalls } from './common-calls.ts';
import { ModifyAttempts, modifyQueueOf } from './modify-attempts.ts';

type AnyTest = (item: never) => unknown;

/**
 * The calls of a key-value collection, asynchronous and synchronous. Without own fields and private
 * methods: they are made of {@link CommonCalls} once their code is loaded.
 */
export class KeyValueCalls extends CommonCalls {
  declare schema: ValueSchema | undefined;

  aggregate(): never {
    const message = 'Key-value collections have no documents: aggregate a DOCUMENT_BASED one.';
    throw new CollectionError('type_mismatch', message, { place: 'aggregate' });
  }

  *set(sender: Sender, key: unknown, value: unknown): Coroutine<unknown> {
    const path = checkKey(key);
    const { schema } = this;
    if (schema && parseKey(path).length > 1) {
      const change = { op: 'kvSet', key: path, body: encode(value, 'value') } as const;
      return yield* schema.change(sender, change);
    }
    const body = schema ? schema.encode(value) : encode(value, 'value');
    yield* request(sender, { op: 'kvSet', key: path, body });
    return decode(body);
  }

  *get(sender: Sender, key: unknown): Coroutine<unknown> {
    const reply = yield* request(sender, { op: 'kvGet', key: checkKey(key) });
    return reply && decode(reply.body);
  }

  *has(sender: Sender, key: unknown, params?: unknown): Coroutine<boolean> {
    const path = checkKey(key);
    if (params === undefined)
      return (yield* request(sender, { op: 'kvGet', key: path })) !== undefined;
    return (yield* matching(sender, path, params, true)).length > 0;
  }

  *delete(sender: Sender, key: unknown): Coroutine<boolean> {
    const change = { op: 'kvDelete', key: checkKey(key) } as const;
    if (this.schema && parseKey(change.key).length > 1)
      return (yield* this.schema.change(sender, change)) as boolean;
    return yield* request(sender, change);
  }

  *push(sender: Sender, key: unknown, item: unknown): Coroutine<unknown[]> {
    const change = { op: 'kvPush', key: checkKey(key), body: encode(item, 'item') } as const;
    if (this.schema) return (yield* this.schema.change(sender, change)) as unknown[];
    return decode(yield* request(sender, change)) as unknown[];
  }

  *remove(sender: Sender, key: unknown, params: unknown): Coroutine<unknown[]> {
    const path = checkKey(key);
    if (typeof params !== 'function') {
      const { criteria, ...flags } = encodeCriteria(params);
      const change = { op: 'kvRemove', key: path, criteria } as const;
      if (this.schema) return (yield* this.schema.change(sender, change, flags)) as unknown[];
      return decode(yield* request(sender, { ...change, ...flags })) as unknown[];
    }
    for (;;) {
      const reply = yield* request(sender, { op: 'kvGet', key: path, array: true });
      if (!reply) return [];
      const before = decode(reply.body) as unknown[];
      const after = before.filter((item) => !passesPredicate(params as AnyTest, item as never));
      if (after.length === before.length) return after;
      // If another client has changed the array, the function runs again.
      const stored = yield* this.replaceOf(sender, path, after, reply.version);
      if (stored) return stored.value as unknown[];
    }
  }

  /**
   * Replaces the value at a key by what a function makes of it, which runs again when somebody was
   * quicker.
   */
  *modify(sender: Sender, key: unknown, change: unknown, options?: unknown): Coroutine<unknown> {
    const path = checkKey(key);
    const attempts = new ModifyAttempts(sender, change, options, String(path));
    const start = () => this.replace(path, attempts);
    return yield* attempts.inTurn(modifyQueueOf(this.order), recordOf(path), start);
  }

  protected *replace(path: Key, attempts: ModifyAttempts): Coroutine<unknown> {
    const { sender } = attempts;
    for (;;) {
      const { body, version } = yield* request(sender, { op: 'kvGetVersion', key: path });
      const changed = yield* attempts.run(body && decode(body));
      if (changed === undefined) return body && decode(body);
      const stored = yield* this.replaceOf(sender, path, changed, version);
      if (stored) return stored.value;
    }
  }

  /**
   * Replaces the value at a key. @returns it, `undefined` if its record has another version than
   * the given.
   */
  protected *replaceOf(
    sender: Sender,
    key: Key,
    value: unknown,
    version: number,
  ): Coroutine<{ readonly value: unknown } | undefined> {
    const body = encode(value, 'value');
    if (this.schema)
      return yield* this.schema.changeOnce(sender, { op: 'kvSet', key, body }, version);
    const isReplaced = yield* request(sender, { op: 'kvReplace', key, body, version });
    return isReplaced ? { value: decode(body) } : undefined;
  }

  *find(sender: Sender, key: unknown, params: unknown): Coroutine<unknown> {
    return (yield* matching(sender, checkKey(key), params, true))[0];
  }

  *filter(sender: Sender, key: unknown, params: unknown): Coroutine<unknown[]> {
    return yield* matching(sender, checkKey(key), params, false);
  }

  increase(sender: Sender, key: unknown, amount: unknown): Coroutine<number> {
    return this.add(sender, key, amount, 1);
  }

  decrease(sender: Sender, key: unknown, amount: unknown): Coroutine<number> {
    return this.add(sender, key, amount, -1);
  }

  protected *add(sender: Sender, key: unknown, amount: unknown, sign: 1 | -1): Coroutine<number> {
    if (typeof amount !== 'number' || Number.isNaN(amount)) {
      throw new ValueError('value_unsupported', 'The amount must be a number.', {
        place: 'number',
      });
    }
    const change = { op: 'kvAdd', key: checkKey(key), amount: amount * sign } as const;
    if (this.schema) return (yield* this.schema.change(sender, change)) as number;
    return yield* request(sender, change);
  }

  *keys(sender: Sender): Coroutine<string[]> {
    return yield* request(sender, { op: 'kvKeys' });
  }

  *entries(sender: Sender): Coroutine<[string, unknown][]> {
    const { keys, bodies } = yield* request(sender, { op: 'kvEntries' });
    return keys.map((key, index) => [key, decode(bodies[index] as Body)]);
  }

  *count(sender: Sender): Coroutine<number> {
    return yield* request(sender, { op: 'count' });
  }
}

/** The matching items of the array at a key; with `first`, at most one. */
function* matching(
  sender: Sender,
  key: Key,
  params: unknown,
  first: boolean,
): Coroutine<unknown[]> {
  if (typeof params !== 'function') {
    return decode(
      yield* request(sender, { op: 'kvMatch', key, ...encodeCriteria(params), first }),
    ) as unknown[];
  }
  const reply = yield* request(sender, { op: 'kvGet', key, array: true });
  if (!reply) return [];
  const items = decode(reply.body) as unknown[];
  if (!first) return items.filter((item) => passesPredicate(params as AnyTest, item as never));
  const index = items.findIndex((item) => passesPredicate(params as AnyTest, item as never));
  return index < 0 ? [] : [items[index]];
}

/** The record that a key names, for turns: escaped dots need not count, as turns are for speed. */
function recordOf(key: Key): string {
  return String(Array.isArray(key) ? key[0] : key).split(/[.[]/, 1)[0] as string;
}

function encodeCriteria(params: unknown): { criteria: Body } & RequestFlags {
  const criteria = encode(isPlainObject(params) ? copyCriteria(params) : params, 'params', true);
  return { criteria, ...checkCriteria(peek(criteria), '') };
}
