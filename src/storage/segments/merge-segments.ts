import type { Body } from '../../codec/body.ts';
import { cutSegments, type Segment, type SegmentContent } from './segment.ts';
import type { StoredRecord } from './stored-record.ts';

/** A segment with its encoded documents. */
export interface WholeSegment {
  readonly segment: Segment;
  readonly bodies: readonly Body[];
}

/**
 * Merges segments into the contents of new ones, by rank.
 *
 * Live records may always move to a higher number: each is the latest saved version of its key.
 *
 * @param oldestLeft The lowest number that is not merged: a delete must stay while an older segment may have its key.
 * @param saved Returns the latest saved version of a key.
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
