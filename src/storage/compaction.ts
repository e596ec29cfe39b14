import { SEGMENT_SIZE } from './segment.ts';

/** What the log remembers of a segment in storage. */
export interface SegmentState {
  readonly number: number;
  readonly size: number;
  /** Records in it. */
  readonly records: number;
  /** Records in it that are the newest saved version of their key. */
  live: number;
}

/** Below this a segment counts as small; Chromium does not compress values under 64 KB. */
const SMALL = 64 * 1024;

/** Small segments are merged at the latest when there are this many, for opening's sake. */
const MANY = 1000;

/** Empty segments are removed at the latest when there are this many. */
const EMPTY = 16;

/** Live bytes rewritten in one go, so that a save never waits long for a compaction. */
const AT_ONCE = 10 * SEGMENT_SIZE;

/**
 * The segments to merge now, or none.
 *
 * Two kinds are candidates: small ones, and those of which at most half is live. They are merged once
 * together they fill a segment. A record is therefore rewritten at most once for resting in a small
 * segment, and otherwise only along with at least as many dead bytes, each of which was inserted once:
 * at most three bytes are written for each one inserted.
 */
export function planCompaction(segments: Iterable<SegmentState>): SegmentState[] {
  const candidates: SegmentState[] = [];
  let liveSize = 0;
  let empty = 0;
  for (const segment of segments) {
    const live = liveSizeOf(segment);
    if (segment.size >= SMALL && live > segment.size / 2) continue;
    if (liveSize + live > AT_ONCE) break;
    candidates.push(segment);
    liveSize += live;
    if (segment.live === 0) empty++;
  }
  const worthwhile = liveSize >= SEGMENT_SIZE || candidates.length >= MANY || empty >= EMPTY;
  return worthwhile ? candidates : [];
}

function liveSizeOf({ size, live, records }: SegmentState): number {
  return records === 0 ? size : (size * live) / records;
}
