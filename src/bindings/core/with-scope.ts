import {
  REPLICATION,
  type Replicable,
  type Replicating,
  type ReplicationAccess,
  type ScopeHolder,
} from '../../page/collections/replication-access.ts';
import type { LiveResult, Running } from './hook-result.ts';
import { keyOf } from './query-of.ts';

/**
 * A query that has a scope of the collection's replication while somebody subscribes.
 *
 * The replication may begin later, or be another one by then: each tells the client where it
 * stands.
 */
export function withScope<T>(
  query: Running<LiveResult<T>>,
  collection: object,
  scope: object,
): Running<LiveResult<T>> {
  let failure: LiveResult<T> | undefined;

  const hold = (failed: () => void) => {
    const { name, [REPLICATION]: access } = collection as Replicable;
    const { owner } = access as ReplicationAccess;
    let from: ScopeHolder | undefined;
    let leave: (() => void) | undefined;
    const look = () => {
      const found = (owner as Replicating)[REPLICATION]?.get(name);
      const next = found?.isStopped ? undefined : found;
      if (next === from) return;
      leave?.();
      from = next;
      leave = next?.hold(scope, (error) => {
        failure = { ...query.view(), status: 'error', error } as LiveResult<T>;
        failed();
      });
    };
    const stop = owner.on('replication', look);
    look();
    return () => {
      stop();
      leave?.();
    };
  };

  return {
    ...query,
    key: `${keyOf(scope)} ${query.key}`,
    view: () => failure ?? query.view(),
    subscribe: (listener) => {
      failure = undefined;
      const stop = query.subscribe(listener);
      const leave = hold(listener);
      return () => {
        leave();
        stop();
      };
    },
  };
}
