import type { CollectionOwner } from '../collection/collection-owner.ts';
import type { CairnError } from '../errors/cairn-error.ts';
import type { ClientEmitter } from './client-emitter.ts';

/** Use of the quota from which on the event is emitted. */
const NEAR = 0.8;

/** Minimum interval of checks: the browser sums up all that the site stores. */
const CHECK_INTERVAL_MS = 10_000;

/** Clients with a watch. */
const watched = new WeakSet<object>();

/** Checks the quota after saves and emits the event `quota`. Loaded with the first listener. */
export function watchQuota(client: CollectionOwner, listeners: ClientEmitter): void {
  if (watched.has(client)) return;
  watched.add(client);
  let checkedAt = Number.NEGATIVE_INFINITY;
  const check = async (full: boolean): Promise<void> => {
    const now = performance.now();
    if (!listeners.has('quota') || (!full && now - checkedAt < CHECK_INTERVAL_MS)) return;
    checkedAt = now;
    const manager = typeof navigator === 'undefined' ? undefined : navigator.storage;
    const { usage, quota } = (await manager?.estimate?.()) ?? {};
    if (usage === undefined || quota === undefined) return;
    if (full || usage >= quota * NEAR) listeners.emit('quota', { usage, quota });
  };
  // After a failed estimate the next save checks again.
  const start = (full: boolean) => void check(full).catch(() => undefined);
  client.on('save', () => start(false));
  client.on('error', ({ error }) => {
    if ((error as Partial<CairnError>).code === 'storage_full') start(true);
  });
}
