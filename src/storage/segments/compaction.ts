import { SEGMENT_SIZE, SMALL_SEGMENT } from './segment.ts';

/** What the log remembers of a segment in storage; sizes are as {@link SEGMENT_SIZE} counts. */
export interface SegmentState {
  readonly number: number;
  readonly size: number;
  /** Rough bytes in storage, Blobs included. */
  readonly bytes: number;
  /** Size of the deletes in it. */
  readonly deletes: number;
  /** Names of its index columns; left out where there are none. */
  columns?: readonly string[] | undefined;
  /** Size of the records in it that are the newest saved version of their key. */
  live: number;
}

/** Small segments are merged at the latest when there are this many, for opening's sake. */
const MANY = 1000;

/** Empty segments are removed at the latest when there are this many. */
const EMPTY = 16;

/** Live bytes rewritten in one go, so that a save never waits long for a compaction. */
const AT_ONCE = 10 * SEGMENT_SIZE;

/**
 * The segments to merge now, in order, or none.
 *
 * Two kinds are candidates: small ones, and those of which at most half is live. They are merged once
 * together they fill a segment. A record is therefore rewritten at most once for resting in a small
 * segment, and otherwise only along with at least as many dead bytes, each of which was inserted once:
 * at most three bytes are written for each one inserted. Segments of which nothing is live are removed
 * earlier, by themselves: that rewrites nothing.
 */
export function planCompaction(segments: readonly SegmentState[]): SegmentState[] {
  const cleanup = planCleanup(segments);
  if (cleanup.length > 0) return cleanup;
  const candidates: SegmentState[] = [];
  const empty: SegmentState[] = [];
  let liveSize = 0;
  let olderRecords = false;
  for (const segment of segments) {
    // A delete is of no use any more when no older segment holds records.
    const live = segment.live + (olderRecords ? segment.deletes : 0);
    olderRecords ||= segment.size > segment.deletes;
    if (segment.size >= SMALL_SEGMENT && live > segment.size / 2) continue;
    if (candidates.length > 0 && liveSize + live > AT_ONCE) break;
    candidates.push(segment);
    liveSize += live;
    if (live === 0) empty.push(segment);
  }
  if (liveSize >= SEGMENT_SIZE || candidates.length >= MANY) return candidates;
  return empty.length >= EMPTY ? empty : [];
}

/**
 * Deletes count for as long as an older segment holds records, be it others. When they have come to be more
 * than what is live, everything is moved behind them, the oldest segments first.
 */
function planCleanup(segments: readonly SegmentState[]): SegmentState[] {
  const live = segments.reduce((sum, segment) => sum + segment.live, 0);
  const deletes = segments.reduce((sum, segment) => sum + segment.deletes, 0);
  if (deletes < SEGMENT_SIZE || deletes <= live) return [];
  let moved = 0;
  const end = segments.findIndex((segment) => {
    moved += segment.live;
    return moved > AT_ONCE;
  });
  return segments.slice(0, end < 0 ? segments.length : Math.max(1, end));
}
