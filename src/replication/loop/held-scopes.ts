import type { Clock } from '../../async/clock.ts';
import { OptionError } from '../../errors/errors.ts';
import { lockName } from '../../platform/lock-names.ts';
import { navigatorObject } from '../../platform/platform-object.ts';
import { pauseFor } from '../fetching/slowdown.ts';
import type { ReplicationScope } from '../protocol/remote.ts';
import type { CollectionSync } from './collection-sync.ts';

/** A page that ends without a word leaves its scopes for so long. */
const KEEP_MS = 86_400_000;
/** Adding one failed, such as without code. */
const RETRY_MS = 60_000;

/** A scope that components show. */
interface Held {
  holders: number;
  /** Resolves when the last one has left. */
  readonly over: Promise<void>;
  readonly end: () => void;
  /** Resolves when the scope is gone. */
  readonly gone: Promise<void>;
  error?: Error;
  readonly listeners: Set<(error: Error) => void>;
}

type Locked = (lock: Lock | null) => Promise<void>;

/**
 * Has a scope until the returned function is called.
 *
 * @param failed Gets what is wrong with it.
 */
export type HoldScope = (scope: ReplicationScope, failed: (error: Error) => void) => () => void;

/**
 * The scopes that components of this page show. Each is added for the first component, and removed
 * after the last one of all tabs: each tab holds a lock as long as it shows the scope.
 */
export function heldScopes(sync: CollectionSync, place: string, clock: Clock): HoldScope {
  const scopes = new Map<string, Held>();

  function begin(name: string, scope: ReplicationScope, earlier = Promise.resolve()): Held {
    let end!: () => void;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    const gone: Promise<void> = earlier
      .then(() => locked(name, { mode: 'shared' }, () => keep(scope, held)))
      .then(() =>
        locked(name, { ifAvailable: true }, async (isLast) => {
          if (isLast) await sync.setScope(scope, undefined, { isHeld: true, ends: true });
        }),
      )
      // A replication that has ended: the scope goes by itself.
      .catch(() => undefined)
      .then(() => {
        if (scopes.get(name) === held) scopes.delete(name);
      });
    const held: Held = { holders: 0, over, end, gone, listeners: new Set() };
    scopes.set(name, held);
    return held;
  }

  /** Adds a scope, and again before its time is over. */
  async function keep(scope: ReplicationScope, held: Held): Promise<void> {
    while (held.holders > 0 && !sync.stopped) {
      let wait = KEEP_MS / 2;
      try {
        await sync.setScope(scope, KEEP_MS, { isHeld: true });
      } catch (error) {
        wait = RETRY_MS;
        if (error instanceof OptionError) {
          held.error = error;
          for (const listener of held.listeners) listener(error);
          return held.over;
        }
      }
      await pauseFor(clock, wait, undefined, held.over);
    }
  }

  async function locked(name: string, options: LockOptions, call: Locked): Promise<void> {
    const locks = navigatorObject('locks');
    // A thread of its own has no other tabs.
    if (!locks) return call({ name, mode: 'exclusive' });
    await locks.request(`${lockName(place)}:scope:${name}`, options, call);
  }

  return (scope, failed) => {
    const name = JSON.stringify(scope);
    const before = scopes.get(name);
    const held = before && before.holders > 0 ? before : begin(name, scope, before?.gone);
    held.holders++;
    const listener = (error: Error) => failed(error);
    held.listeners.add(listener);
    if (held.error) failed(held.error);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      held.listeners.delete(listener);
      // In a later turn: a component that remounts holds it again at once.
      setTimeout(() => {
        if (--held.holders === 0) held.end();
      });
    };
  };
}
