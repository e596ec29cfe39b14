import type { Snapshot } from './snapshot.ts';

const HOUR_MS = 60 * 60 * 1000;

/**
 * Whether today's backup is due: something changed since the newest backup, and none was made for the
 * day yet. Days are those of the user's calendar.
 *
 * @param snapshots Oldest first.
 * @param changed Number of the last change, 0 where nothing was ever saved.
 */
export function isDailyDue(snapshots: readonly Snapshot[], changed: number, now: number): boolean {
  if (changed <= (snapshots.at(-1)?.changed ?? 0)) return false;
  const last = snapshots.findLast(({ reason }) => reason === 'daily');
  return !last || dayOf(last.created_at) !== dayOf(now);
}

/** Milliseconds until backups are looked at again: an hour, and once before the day ends. */
export function untilNextLook(now: number): number {
  const lastMinute = new Date(now).setHours(23, 59, 0, 0);
  return lastMinute > now ? Math.min(HOUR_MS, lastMinute - now) : HOUR_MS;
}

function dayOf(at: number): string {
  return new Date(at).toDateString();
}
