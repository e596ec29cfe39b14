import { planCompaction, type SegmentState } from '../segments/compaction.ts';
import { segmentLost } from '../segments/lost-data.ts';
import { hasDamage, mergeSegments, type WholeSegment } from '../segments/merge-segments.ts';
import type { Segment } from '../segments/segment.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import type { SegmentLog } from './segment-log.ts';

/**
 * Merges segments when too many are small or mostly dead. Nothing else may be written meanwhile. A
 * segment with a damaged document stays as it is from then on, so that the document is not lost
 * without a word.
 *
 * @param saved Returns the latest saved version of a key.
 * @returns whether anything was merged.
 * @throws {StorageError} `data_damaged`, once for each such segment.
 */
export async function compactLog(
  log: SegmentLog,
  saved: (key: string) => StoredRecord | undefined,
): Promise<boolean> {
  const plan = planOf(log);
  if (plan.length === 0) return false;
  const numbers = new Set(plan.map(({ number }) => number));
  const oldestLeft = [...log.segments.keys()].find((number) => !numbers.has(number));
  const merged = await loadWhole(log, [...numbers]);
  for (const one of merged) {
    const state = log.segments.get(one.segment.number);
    if (!state || !hasDamage(one, saved)) continue;
    state.isDamaged = true;
    throw segmentLost(log.name, state.number, 'has damaged documents and is not merged');
  }
  const oldest = oldestLeft ?? Number.POSITIVE_INFINITY;
  await log.compact(numbers, mergeSegments(merged, oldest, saved, log.sizes));
  return true;
}

/** Whether {@link compactLog} would remove segments and rewrite none, or has removed some. */
export function isRemovalDue(log: SegmentLog): boolean {
  const plan = planOf(log);
  return log.state.orphans.size > 0 || (plan.length > 0 && plan.every(({ live }) => live === 0));
}

function planOf(log: SegmentLog): SegmentState[] {
  return planCompaction([...log.segments.values()], log.sizes);
}

/** Segments with their encoded documents: kept since they were written, or read. */
async function loadWhole(log: SegmentLog, numbers: readonly number[]): Promise<WholeSegment[]> {
  const read = await readWhole(
    log,
    numbers.filter((number) => !log.bodies.written(number)),
  );
  return numbers.map((number) => log.bodies.written(number) ?? (read.get(number) as WholeSegment));
}

async function readWhole(
  log: SegmentLog,
  numbers: readonly number[],
): Promise<Map<number, WholeSegment>> {
  const read = new Map<number, WholeSegment>();
  if (numbers.length === 0) return read;
  const loading = Promise.all(numbers.map((number) => log.bodies.load(number)));
  // Awaited after the segments; until then a failure must not count as unhandled.
  loading.catch(() => undefined);
  const segments: Segment[] = [];
  await log.read(numbers, (segment) => segments.push(segment));
  for (const [index, { bodies }] of (await loading).entries()) {
    const segment = segments[index] as Segment;
    read.set(segment.number, { segment, bodies });
  }
  return read;
}
