import type { Body } from '../../codec/body.ts';
import { cutSegments, type Segment, type SegmentContent } from './segment.ts';
import type { StoredRecord } from './stored-record.ts';

/** A segment with its bodies. */
export interface WholeSegment {
  readonly segment: Segment;
  readonly bodies: readonly Body[];
}

/**
 * What is left of segments, as the contents of new ones, in order of insertion.
 *
 * Live records may always move to a new, higher number: they are the newest saved version of their key,
 * so nothing they could overtake exists.
 *
 * @param oldestLeft The lowest number that is not merged: a deletion still counts while an older segment
 *   may hold the key.
 * @param saved The newest saved version of a key.
 */
export function mergeSegments(
  merged: readonly WholeSegment[],
  oldestLeft: number,
  saved: (key: string) => StoredRecord | undefined,
): SegmentContent[] {
  const live = new Map<StoredRecord, Body>();
  const deletes = new Set<string>();
  for (const { segment, bodies } of merged) {
    segment.keys.forEach((key, index) => {
      const record = saved(key);
      if (record?.segment !== segment.number || record.index !== index) return;
      live.set(record, bodies[index] as Body);
    });
    if (oldestLeft > segment.number) continue;
    for (const key of segment.deletes) if (!saved(key)) deletes.add(key);
  }
  const records = [...live.keys()].sort((a, b) => a.rank - b.rank);
  return [...cutSegments(deletes, records, (record) => live.get(record) as Body)];
}
