import type { Snapshot } from './snapshot.ts';

const HOUR_MS = 60 * 60 * 1000;

export interface DailyBackupDecision {
  readonly make: boolean;
  /** Earlier backups of the same day, which it replaces. */
  readonly outdated: readonly Snapshot[];
}

const NOTHING: DailyBackupDecision = { make: false, outdated: [] };

/**
 * Decides about daily backups: one at the first change of a day, replaced at the end of the day if
 * more has changed. So each day with a change has one backup with all changes of the day. Days are
 * those of the user's calendar.
 */
export class DailyBackups {
  /** The day of the last check, and the number of the last change then. */
  #day: string | undefined;
  #seen = 0;
  /** Changes up to this number need no backup today. */
  #settled = 0;
  /** A backup with changes up to this number has no change of today. */
  #before = 0;

  /**
   * Call it at each check.
   *
   * @param snapshots Oldest first.
   * @param changed Number of the last change, 0 before the first save.
   */
  decide(snapshots: readonly Snapshot[], changed: number, now: number): DailyBackupDecision {
    const day = dayOf(now);
    if (this.#day !== day) {
      this.#settled = this.#seen;
      // The day of changes before opening is unknown: they may still need a backup.
      this.#before = this.#day === undefined ? changed : this.#seen;
    }
    this.#day = day;
    const backedUp = snapshots.at(-1)?.changed ?? 0;
    if (changed <= Math.max(backedUp, this.#settled)) return NOTHING;
    const last = snapshots.findLast(({ reason }) => reason === 'daily');
    if (!last || dayOf(last.created_at) !== day) return { make: true, outdated: [] };
    if (now < lastMinute(now)) return NOTHING;
    return { make: true, outdated: last.changed > this.#before ? [last] : [] };
  }

  /** Call it after the decision was carried out, so that a failure is tried again. */
  done(changed: number): void {
    this.#seen = changed;
  }
}

/** Milliseconds until the next check: an hour, or the last minute of the day if that is sooner. */
export function untilNextCheck(now: number): number {
  const last = lastMinute(now);
  return last > now ? Math.min(HOUR_MS, last - now) : HOUR_MS;
}

function lastMinute(now: number): number {
  return new Date(now).setHours(23, 59, 0, 0);
}

function dayOf(at: number): string {
  return new Date(at).toDateString();
}
