import type { Snapshot } from './snapshot.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * So many of the newest never expire: no clock, however far it jumps, and no long absence leaves a collection
 * without the state it had before the last backup.
 */
const ALWAYS_KEPT = 2;

/** When a backup expires by its age alone, `undefined` for never. */
export function expiryOf({ created_at }: Snapshot, days: number): number | undefined {
  return days === -1 ? undefined : created_at + days * DAY_MS;
}

/**
 * The backups that have expired. One that seems to be of the future has not: the clock was set back.
 *
 * @param snapshots Oldest first.
 * @param days How long they are kept, -1 for ever.
 */
export function expired(snapshots: readonly Snapshot[], now: number, days: number): Snapshot[] {
  return snapshots.slice(0, -ALWAYS_KEPT).filter((snapshot) => {
    const expires = expiryOf(snapshot, days);
    return expires !== undefined && expires <= now;
  });
}
