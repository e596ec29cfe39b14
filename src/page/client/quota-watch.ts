import type { EventMap } from '../../api/events.ts';
import type { Emitter } from '../../async/emitter.ts';
import type { CairnError } from '../../errors/errors.ts';
import { askStorage } from '../../platform/storage-manager.ts';
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
