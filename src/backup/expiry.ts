import type { Snapshot } from './snapshot.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many of the newest backups never expire: they remain after a clock jump and after a long absence. */
const ALWAYS_KEPT = 2;

/** When a backup expires by its age, `undefined` for never. */
export function expiryOf({ created_at }: Snapshot, days: number): number | undefined {
  return days === -1 ? undefined : created_at + days * DAY_MS;
}

/**
 * The expired backups. A backup from the future has not expired: the clock was set back.
 *
 * @param snapshots Oldest first.
 * @param days Retention time, -1 for ever.
 */
export function expired(snapshots: readonly Snapshot[], now: number, days: number): Snapshot[] {
  return snapshots.slice(0, -ALWAYS_KEPT).filter((snapshot) => {
    const expires = expiryOf(snapshot, days);
    return expires !== undefined && expires <= now;
  });
}
