import { type Body, decode, encode, peek } from '../../codec/body.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { Key, RequestFlags } from '../../engine/protocol/requests.ts';
import { ValueError } from '../../errors/value-error.ts';
import { holdsPattern } from '../find/holds-pattern.ts';
import { copyCriteria } from '../find/params.ts';
import { passesPredicate } from '../find/predicate.ts';
import { CommonExchanges } from './common-exchanges.ts';
import { ask, type Exchange } from './exchange.ts';
import { checkKey } from './item-checks.ts';

type AnyTest = (item: never) => unknown;

/** What the methods of a key-value collection do, whether they return promises or not. */
export class KeyValueExchanges extends CommonExchanges {
  *set(key: unknown, value: unknown): Exchange<unknown> {
    const body = encode(value, 'value');
    yield* ask({ op: 'kvSet', key: checkKey(key), body });
    return decode(body);
  }

  *get(key: unknown): Exchange<unknown> {
    const reply = yield* ask({ op: 'kvGet', key: checkKey(key) });
    return reply && decode(reply.body);
  }

  *has(key: unknown, params?: unknown): Exchange<boolean> {
    const path = checkKey(key);
    if (params === undefined) return (yield* ask({ op: 'kvGet', key: path })) !== undefined;
    return (yield* this.#matching(path, params, true)).length > 0;
  }

  *delete(key: unknown): Exchange<boolean> {
    return yield* ask({ op: 'kvDelete', key: checkKey(key) });
  }

  *push(key: unknown, item: unknown): Exchange<unknown[]> {
    const body = encode(item, 'item');
    return decode(yield* ask({ op: 'kvPush', key: checkKey(key), body })) as unknown[];
  }

  *remove(key: unknown, params: unknown): Exchange<unknown[]> {
    const path = checkKey(key);
    if (typeof params !== 'function') {
      return decode(
        yield* ask({ op: 'kvRemove', key: path, ...encodeCriteria(params) }),
      ) as unknown[];
    }
    for (;;) {
      const reply = yield* ask({ op: 'kvGet', key: path, array: true });
      if (!reply) return [];
      const before = decode(reply.body) as unknown[];
      const after = before.filter((item) => !passesPredicate(params as AnyTest, item as never));
      if (after.length === before.length) return after;
      const body = encode(after, 'value');
      // Another door may have changed the array while the function looked at it; then it looks again.
      if (yield* ask({ op: 'kvReplace', key: path, body, version: reply.version }))
        return decode(body) as unknown[];
    }
  }

  *find(key: unknown, params: unknown): Exchange<unknown> {
    return (yield* this.#matching(checkKey(key), params, true))[0];
  }

  *filter(key: unknown, params: unknown): Exchange<unknown[]> {
    return yield* this.#matching(checkKey(key), params, false);
  }

  *add(key: unknown, amount: unknown, sign: 1 | -1): Exchange<number> {
    if (typeof amount !== 'number' || Number.isNaN(amount)) {
      throw new ValueError('value_unsupported', 'The amount must be a number.', {
        place: 'number',
      });
    }
    return yield* ask({ op: 'kvAdd', key: checkKey(key), amount: amount * sign });
  }

  *keys(): Exchange<string[]> {
    return yield* ask({ op: 'kvKeys' });
  }

  *entries(): Exchange<[string, unknown][]> {
    const { keys, bodies } = yield* ask({ op: 'kvEntries' });
    return keys.map((key, index) => [key, decode(bodies[index] as Body)]);
  }

  *count(): Exchange<number> {
    return yield* ask({ op: 'count' });
  }

  /** Items of the array at a key that match, at most one where `first`. */
  *#matching(key: Key, params: unknown, first: boolean): Exchange<unknown[]> {
    if (typeof params !== 'function') {
      return decode(
        yield* ask({ op: 'kvMatch', key, ...encodeCriteria(params), first }),
      ) as unknown[];
    }
    const reply = yield* ask({ op: 'kvGet', key, array: true });
    if (!reply) return [];
    const items = decode(reply.body) as unknown[];
    if (!first) return items.filter((item) => passesPredicate(params as AnyTest, item as never));
    const index = items.findIndex((item) => passesPredicate(params as AnyTest, item as never));
    return index < 0 ? [] : [items[index]];
  }
}

function encodeCriteria(params: unknown): { criteria: Body } & RequestFlags {
  const criteria = encode(isPlainObject(params) ? copyCriteria(params) : params, 'params');
  return { criteria, mayHang: holdsPattern(peek(criteria)) || undefined };
}
