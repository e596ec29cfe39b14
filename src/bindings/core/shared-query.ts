import type { LiveQuery } from '../../collection/live/live-query.ts';
import type { LiveSnapshot } from '../../collection/live/live-snapshot.ts';
import { type LiveResult, PENDING, type Running } from './hook-result.ts';

/** A live query that all components with the same arguments share. */
interface SharedQuery {
  readonly subscribe: (listener: () => void) => () => void;
  /** `undefined` until there is news. */
  readonly view: () => LiveResult<never> | undefined;
}

/** The queries with readers, by collection and key. */
const running = new WeakMap<object, Map<string, SharedQuery>>();

/**
 * The live query of one hook. It is shared, and runs, once the component has committed.
 *
 * @param start Before the first result.
 */
export function sharedQuery<T>(
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
      // React's Activity stops a component that it hides: what it has shown stays until the next result.
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
        // In a later turn, like the live query itself: a component that remounts subscribes again at once.
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
