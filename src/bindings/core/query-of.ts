import type { LiveSnapshot } from '../../api/live-options.ts';
import { OptionError } from '../../errors/errors.ts';
import type { LiveQuery } from '../../page/live/live-query.ts';
import { type LiveResult, PENDING, type Running } from './hook-result.ts';

export interface QueryCall {
  readonly method: 'live' | 'liveAggregate' | 'liveCount' | 'liveDocument' | 'liveSearch';
  readonly args: readonly unknown[];
  /** What its functions close over. */
  readonly names?: unknown;
  readonly type: string;
}

/** The queries with readers, by collection and key. */
const running = new WeakMap<object, Map<string, SharedQuery>>();

/**
 * The live query of one hook: the same for calls with equal arguments.
 *
 * @throws {OptionError} `option_invalid` if the collection is none.
 */
export function queryOf<T>(
  hook: string,
  collection: object,
  { method, args, names, type }: QueryCall,
  start: LiveResult<T>,
): Running<LiveResult<T>> {
  if ((collection as { type?: unknown }).type !== type)
    throw wrong(hook, collection, `a ${type} collection`);
  const live = collection as Record<string, (...given: readonly unknown[]) => LiveQuery<T>>;
  let key: string;
  let open = () => (live[method] as (typeof live)[string])(...args);
  try {
    key = method + keyOf([names, args.map(sorted)], names !== undefined);
  } catch (cause) {
    // Cycles, for example. They go to `error`, as all that is wrong with a query.
    key = `${hook}() cannot compare its criteria and options: ${(cause as Error).message}`;
    open = () => {
      throw new OptionError('option_invalid', key, { place: hook, cause });
    };
  }
  return sharedQuery(collection, key, open, start);
}

/** The error of an argument of another kind. */
export function wrong(hook: string, given: unknown, needed: string): OptionError {
  const { type, then, subscribe } = (given ?? {}) as Record<string, unknown>;
  const what = type
    ? `a ${type} collection`
    : then
      ? 'a promise'
      : subscribe
        ? 'a live query'
        : typeof given;
  return new OptionError('option_invalid', `${hook}() got ${what}; pass ${needed}.`, {
    place: hook,
  });
}

/** A live query that all components with the same arguments share. */
interface SharedQuery {
  readonly subscribe: (listener: () => void) => () => void;
  /** `undefined` until there is news. */
  readonly view: () => LiveResult<never> | undefined;
}

/**
 * The live query of one hook. It is shared, and runs, once the component has committed.
 *
 * @param start Before the first result.
 */
function sharedQuery<T>(
  collection: object,
  key: string,
  open: () => LiveQuery<T>,
  start: LiveResult<T>,
): Running<LiveResult<T>> {
  const queries = running.get(collection) ?? new Map<string, SharedQuery>();
  running.set(collection, queries);
  let own: SharedQuery | undefined;
  let first = start;
  const run = () => {
    const shared =
      queries.get(key) ??
      share(open, (ended) => {
        if (queries.get(key) === ended) queries.delete(key);
      });
    queries.set(key, shared);
    return shared;
  };
  return {
    key,
    subscribe: (listener) => {
      // React's Activity stops a component that it hides: what it has shown stays until the next
      // result.
      const { data } = own?.view() ?? {};
      if (data !== undefined) first = { ...PENDING, data, is_stale: true };
      own = run();
      return own.subscribe(listener);
    },
    view: () => (own ?? queries.get(key))?.view() ?? first,
    // In a later turn: React renders twice what throws.
    forget: () => void setTimeout(() => queries.delete(key)),
  };
}

function share(open: () => LiveQuery<unknown>, remove: (ended: SharedQuery) => void): SharedQuery {
  const readers = new Set<{ readonly listener: () => void }>();
  let result: LiveResult<unknown> | undefined;
  let query: LiveQuery<unknown> | undefined;
  let stop: (() => void) | undefined;

  const take = ({ data, status, error }: LiveSnapshot<unknown>) => {
    const before = result ?? PENDING;
    if (before.status === status && before.data === data && before.error === error) return;
    const is_stale = status !== 'ready' && data !== undefined;
    result = { data, status, error, is_stale } as LiveResult<unknown>;
    for (const reader of [...readers]) {
      if (readers.has(reader)) callSafely(reader.listener);
    }
  };

  const start = () => {
    try {
      query ??= open();
      stop = query.subscribe(take);
      take(query.getSnapshot());
    } catch (error) {
      take({ status: 'error', data: undefined, error: error as Error });
    }
  };

  const shared: SharedQuery = {
    subscribe: (listener) => {
      const reader = { listener };
      readers.add(reader);
      if (readers.size === 1) start();
      return () => {
        if (!readers.delete(reader) || readers.size > 0) return;
        stop?.();
        // In a later turn, like the live query itself: a component that remounts subscribes again
        // at once.
        setTimeout(() => readers.size > 0 || remove(shared));
      };
    },
    view: () => result as LiveResult<never> | undefined,
  };
  return shared;
}

/** What a listener throws must not keep the change from others: Solid renders in it. */
function callSafely(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

const identities = new WeakMap<object, number>();
let objects = 0;

/**
 * A text that is equal for equal values. Functions and Blobs count by identity; functions by their
 * text if the caller names what they close over.
 *
 * The order of fields counts, as it does in `sort` and in objects that documents are compared with.
 * It does not count among operators, and for `sorted`. docs/decisions/025-bindings.md says which
 * order counts.
 */
export function keyOf(value: unknown, isNamed = false): string {
  return JSON.stringify([value], function (this: Record<string, unknown>, name, json: unknown) {
    // `json` of a Date is a string already.
    const field = this[name];
    const tag = Object.prototype.toString.call(field).slice(8, -1);
    if (tag === 'Object') return Object.keys(field as object)[0]?.[0] === '$' ? sorted(json) : json;
    if (/^(Array|String|Null|Boolean)$/.test(tag)) return json;
    return { [`\0${tag}`]: contentOf(field, tag, isNamed) };
  });
}

function contentOf(value: unknown, tag: string, isNamed: boolean): unknown {
  if (typeof value !== 'object' && (isNamed || typeof value !== 'function')) return String(value);
  const object = value as Date & Set<unknown> & Uint8Array<ArrayBuffer>;
  if (tag === 'Date') return object.getTime();
  if (tag === 'RegExp') return String(object);
  if (tag === 'Map' || tag === 'Set') return [...object];
  if (tag === 'ArrayBuffer') return [...new Uint8Array(object as unknown as ArrayBuffer)];
  if (ArrayBuffer.isView(object))
    return [...new Uint8Array(object.buffer, object.byteOffset, object.byteLength)];
  let identity = identities.get(object);
  if (!identity) {
    objects += 1;
    identity = objects;
    identities.set(object, identity);
  }
  return identity;
}

/** A copy with its fields in alphabetical order. */
function sorted(fields: unknown): unknown {
  if (Object.prototype.toString.call(fields) !== '[object Object]') return fields;
  return Object.fromEntries(Object.entries(fields as object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
