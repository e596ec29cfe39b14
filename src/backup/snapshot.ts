import type { LiveSegmentList } from '../storage/log/live-segments.ts';
import { FORMAT } from '../storage/log/manifest.ts';

/** Reasons of automatic backups, with their labels. */
export const REASONS = {
  daily: 'daily',
  restore: 'before loadBackup()',
  import: 'before importBackup()',
  indexes: 'before indexes changed',
  migration: 'before a migration',
  drop: 'before Drop()',
  damage: 'what was left of damaged data',
} as const;

export type BackupReason = keyof typeof REASONS;

/**
 * A backup as stored: the list of the segments that were live at one instant. Garbage collection
 * keeps them. docs/decisions/016-snapshots.md has the reasons.
 */
export interface Snapshot {
  /** Of the segments, see {@link FORMAT}. */
  readonly format: number;
  readonly collection: string;
  readonly type: string;
  /** Rank by time of creation: clocks may be set back. */
  readonly sequence: number;
  readonly name: string;
  readonly label?: string | undefined;
  /** Left out if the caller made the backup. */
  readonly reason?: BackupReason | undefined;
  /** Idempotency key of the request: retried on another engine, it is answered with this backup. */
  readonly asked?: number | undefined;
  /** Unix time in milliseconds. */
  readonly created_at: number;
  readonly documents: number;
  /** In ascending order. */
  readonly segments: readonly number[];
  /** Rough bytes of each of them, Blobs included. */
  readonly sizes: readonly number[];
  /** Number of the last change in it. */
  readonly changed: number;
  /** The version of its documents, as the option `version`; left out where it is 1. */
  readonly version?: number;
}

export type SnapshotCause = Pick<Snapshot, 'label' | 'reason' | 'asked'>;

export type SnapshotHead = SnapshotCause &
  Pick<Snapshot, 'collection' | 'type' | 'sequence' | 'created_at' | 'documents'>;

export function makeSnapshot(
  head: SnapshotHead,
  { segments, changed, version }: LiveSegmentList,
): Snapshot {
  const sorted = [...segments].sort((a, b) => a.number - b.number);
  return {
    format: FORMAT,
    ...head,
    name: nameOf(head),
    segments: sorted.map(({ number }) => number),
    sizes: sorted.map(({ bytes }) => bytes),
    changed,
    ...(version > 1 && { version }),
  };
}

/** The time of creation, unique by the sequence number even if the clock is set back. */
function nameOf({ created_at, sequence }: SnapshotHead): string {
  const [date, time] = new Date(created_at).toISOString().split(/[T.]/) as [string, string];
  return `${date}_${time.replaceAll(':', '-')}_${sequence}`;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * How many of the newest backups never expire: they remain after a clock jump and after a long
 * absence.
 */
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
