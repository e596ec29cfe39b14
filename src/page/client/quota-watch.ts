import type { EventMap } from '../../api/events.ts';
import type { Emitter } from '../../async/emitter.ts';
import type { CairnError } from '../../errors/errors.ts';
import { navigatorObject } from '../../platform/platform-object.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';

/** Use of the quota from which on the event is emitted. */
const NEAR = 0.8;

/** Minimum interval of checks: the browser sums up all that the site stores. */
const CHECK_INTERVAL_MS = 10_000;

/** Clients with a watch. */
const watched = new WeakSet<object>();

/** Checks the quota after saves and emits the event `quota`. Loaded with the first listener. */
export function watchQuota(client: CollectionOwner, listeners: Emitter<EventMap>): void {
  if (watched.has(client)) return;
  watched.add(client);
  let checkedAt = Number.NEGATIVE_INFINITY;
  const check = async (full: boolean): Promise<void> => {
    const now = performance.now();
    if (!listeners.has('quota') || (!full && now - checkedAt < CHECK_INTERVAL_MS)) return;
    checkedAt = now;
    const { usage, quota } = (await askStorage('estimate')) ?? {};
    if (usage === undefined || quota === undefined) return;
    if (full || usage >= quota * NEAR) listeners.emit('quota', { usage, quota });
  };
  client.on('save', () => void check(false));
  client.on('error', ({ error }) => {
    if ((error as Partial<CairnError>).code === 'storage_full') void check(true);
  });
}

type Question = 'persist' | 'persisted' | 'estimate';

/**
 * What the browser answers about its storage; `undefined` where it does not: insecure pages and
 * Node lack `navigator.storage`, browsers, pages and workers differ in its methods, and a frame
 * without an origin gets a TypeError.
 */
export async function askStorage<Name extends Question>(
  question: Name,
): Promise<Awaited<ReturnType<StorageManager[Name]>> | undefined> {
  try {
    const storage: Partial<StorageManager> | undefined = navigatorObject('storage');
    return (await storage?.[question]?.()) as Awaited<ReturnType<StorageManager[Name]>> | undefined;
  } catch {
    return undefined;
  }
}
