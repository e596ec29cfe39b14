import type { Snapshot } from './snapshot.ts';

const HOUR_MS = 60 * 60 * 1000;

/** What is to be done about the backup of a day. */
export interface DailyBackupDecision {
  readonly make: boolean;
  /** Backups of the day whose place it takes. */
  readonly outdated: readonly Snapshot[];
}

const NOTHING: DailyBackupDecision = { make: false, outdated: [] };

/**
 * When the backup of a day is made: once a change is seen on it, and anew at its end if more has changed by then,
 * so that each day with a change has one, which holds all of the day, and no other day has any. Days are those of
 * the user's calendar.
 */
export class DailyBackups {
  /** The day of the last look, and the number of the last change by then. */
  #day: string | undefined;
  #seen = 0;
  /** A change up to this number calls for no backup today. */
  #settled = 0;
  /** A backup with changes up to this number holds nothing of today. */
  #before = 0;

  /**
   * To be asked at each look.
   *
   * @param snapshots Oldest first.
   * @param changed Number of the last change, 0 where nothing was ever saved.
   */
  decide(snapshots: readonly Snapshot[], changed: number, now: number): DailyBackupDecision {
    const day = dayOf(now);
    if (this.#day !== day) {
      this.#settled = this.#seen;
      // Of what was changed before opening no day is known: it may still call for a backup.
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

  /** To be called once it is done: a change that no backup could be made of is none of an earlier day. */
  done(changed: number): void {
    this.#seen = changed;
  }
}

/** Milliseconds until backups are looked at again: an hour, and once before the day ends. */
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
