import type { Body } from '../../codec/body.ts';
import { cutSegments, type Segment, type SegmentContent, type SegmentSizes } from './segment.ts';
import type { StoredRecord } from './stored-record.ts';

/** A segment with its encoded documents. */
export interface WholeSegment {
  readonly segment: Segment;
  /** `undefined` in place of one that is damaged. */
  readonly bodies: readonly (Body | undefined)[];
}

/**
 * Merges segments into the contents of new ones, by rank.
 *
 * Live records may always move to a higher number: each is the latest saved version of its key.
 * None may be damaged.
 *
 * @param oldestLeft The lowest number that is not merged: a delete must stay while an older segment
 *   may have its key.
 * @param saved Returns the latest saved version of a key.
 */
export function mergeSegments(
  merged: readonly WholeSegment[],
  oldestLeft: number,
  saved: (key: string) => StoredRecord | undefined,
  sizes: SegmentSizes,
): SegmentContent[] {
  const live = new Map<StoredRecord, Body>();
  const deletes = new Set<string>();
  for (const { segment, bodies } of merged) {
    for (const [record, index] of liveRecords(segment, saved))
      live.set(record, bodies[index] as Body);
    if (oldestLeft > segment.number) continue;
    for (const key of segment.deletes) if (!saved(key)) deletes.add(key);
  }
  const records = [...live.keys()].sort((a, b) => a.rank - b.rank);
  return [...cutSegments(deletes, records, (record) => live.get(record) as Body, sizes)];
}

/** Whether the encoded document of a live record is damaged. */
export function hasDamage(
  { segment, bodies }: WholeSegment,
  saved: (key: string) => StoredRecord | undefined,
): boolean {
  if (!bodies.includes(undefined)) return false;
  for (const [, index] of liveRecords(segment, saved)) if (bodies[index] === undefined) return true;
  return false;
}

function* liveRecords(
  { number, keys }: Segment,
  saved: (key: string) => StoredRecord | undefined,
): Generator<[record: StoredRecord, index: number]> {
  for (const [index, key] of keys.entries()) {
    const record = saved(key);
    if (record?.segment === number && record.index === index) yield [record, index];
  }
}
