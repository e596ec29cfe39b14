import type { CollectionOwner } from '../collection/collection-handle.ts';
import type { Emitter } from '../collection/emitter.ts';
import type { CairnError } from '../errors/cairn-error.ts';

/** Part of the quota from which on it counts as near. */
const NEAR = 0.8;

/** Milliseconds between two looks at the least: the browser has to add up what it stores. */
const LOOK_EVERY_MS = 10_000;

/** Doors that are watched. */
const watched = new WeakSet<object>();

/** Looks after saves whether the quota nears, and tells listeners; loaded once somebody listens. */
export function watchQuota(door: CollectionOwner, listeners: Emitter): void {
  if (watched.has(door)) return;
  watched.add(door);
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = async (full: boolean): Promise<void> => {
    const now = performance.now();
    if (!listeners.has('quota') || (!full && now - lookedAt < LOOK_EVERY_MS)) return;
    lookedAt = now;
    const manager = typeof navigator === 'undefined' ? undefined : navigator.storage;
    const { usage, quota } = (await manager?.estimate?.()) ?? {};
    if (usage === undefined || quota === undefined) return;
    if (full || usage >= quota * NEAR) listeners.emit('quota', { usage, quota });
  };
  // A browser that cannot say it now is asked again after the next save.
  const begin = (full: boolean) => void look(full).catch(() => undefined);
  door.on('save', () => begin(false));
  door.on('error', ({ error }) => {
    if ((error as Partial<CairnError>).code === 'storage_full') begin(true);
  });
}
