import type { Segment } from '../segments/segment.ts';
import { putSegment } from '../segments/stored-segment.ts';
import type { SegmentLog } from './segment-log.ts';

/** Adds the columns of new indexes to live segments. Nothing else may be written meanwhile. */
export async function addColumns(
  log: SegmentLog,
  numbers: readonly number[],
  columnsOf: (segment: Segment) => Promise<Segment['indexed']>,
): Promise<void> {
  const segments: Segment[] = [];
  const live = numbers.filter((number) => log.segments.has(number));
  await log.read(live, (segment) => segments.push(segment));
  const values = await Promise.all(
    segments.map(async (segment) => ({ ...segment, indexed: await columnsOf(segment) })),
  );
  await log.write(values.map((value) => putSegment(log.name, value)));
  for (const { number, indexed } of values) {
    const state = log.segments.get(number);
    if (state) state.columns = indexed && Object.keys(indexed);
  }
}
