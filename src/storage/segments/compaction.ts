import { SEGMENT_SIZE, type SegmentSizes } from './segment.ts';

/** A live segment, as compaction sees it; sizes in the unit of {@link SEGMENT_SIZE}. */
export interface SegmentState {
  readonly number: number;
  readonly size: number;
  /** Rough bytes in storage, Blobs included. */
  readonly bytes: number;
  /** Size of its deletes. */
  readonly deletes: number;
  /** Names of its index columns. */
  columns?: readonly string[] | undefined;
  /** Size of its live records: the latest saved versions of their keys. */
  live: number;
  /** Whether it is known to have a damaged document: then it stays as it is. */
  isDamaged?: boolean;
}

/** Candidates that are merged however small they are: opening reads every segment. */
const MANY = 1000;

/**
 * Segments without a live record that are removed by themselves; fewer where they take twice the
 * room of all live records.
 */
const EMPTY = 16;

/** Live bytes that one compaction rewrites at most, so that saves never wait long for it. */
const AT_ONCE = 10 * SEGMENT_SIZE;

/**
 * Plans the next compaction: the segments to merge, in order, or none.
 *
 * Candidates are small segments, and segments that are at most half live. They are merged once
 * together they fill a segment. A record is rewritten at most once because its segment is small,
 * otherwise only along with at least as many dead bytes. Write amplification is therefore at most
 * 3. Segments without live records are removed earlier, without a rewrite.
 */
export function planCompaction(
  segments: readonly SegmentState[],
  { full, small }: SegmentSizes,
): SegmentState[] {
  const cleanup = planCleanup(segments);
  if (cleanup.length > 0) return cleanup;
  const candidates: SegmentState[] = [];
  const empty: SegmentState[] = [];
  let liveSize = 0;
  let emptyBytes = 0;
  let olderRecords = false;
  for (const segment of segments) {
    // A delete only matters while an older segment with records stays.
    const live: number = segment.live + (olderRecords ? segment.deletes : 0);
    olderRecords ||= segment.size > segment.deletes && (live > 0 || segment.isDamaged === true);
    if (segment.isDamaged) continue;
    if (segment.size >= small && live > segment.size / 2) continue;
    if (candidates.length > 0 && liveSize + live > AT_ONCE) break;
    candidates.push(segment);
    liveSize += live;
    if (live > 0) continue;
    empty.push(segment);
    emptyBytes += segment.bytes;
  }
  if (liveSize >= full || candidates.length >= MANY) return candidates;
  const isMuch = emptyBytes >= small + 2 * sumOf(segments, 'live');
  return isMuch || empty.length >= EMPTY ? empty : [];
}

/**
 * Removes deletes once they outweigh the live records: a delete must stay while any older segment
 * has records, so this merges the segments from the oldest on.
 */
function planCleanup(segments: readonly SegmentState[]): SegmentState[] {
  // The deletes could not go: an older segment stays.
  if (segments.some(({ isDamaged }) => isDamaged)) return [];
  const live = sumOf(segments, 'live');
  const deletes = sumOf(segments, 'deletes');
  if (deletes < SEGMENT_SIZE || deletes <= live) return [];
  let moved = 0;
  const end = segments.findIndex((segment) => {
    moved += segment.live;
    return moved > AT_ONCE;
  });
  return segments.slice(0, end < 0 ? segments.length : Math.max(1, end));
}

function sumOf(segments: readonly SegmentState[], size: 'live' | 'deletes'): number {
  return segments.reduce((sum, segment) => sum + segment[size], 0);
}
