import type { Body } from '../../../codec/body.ts';
import { rowSize, type SegmentContent, type SegmentSizes } from '../segment.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { RecordPart, Rows } from './record-part.ts';

/** Splits a part of new records into contents of full segments. They are drawn as they are written. */
export function* cutPart(part: RecordPart, { full }: SegmentSizes): Generator<SegmentContent> {
  const { keys, length } = part;
  const hasStamps = part.hasStamps;
  for (let from = 0; from < length; ) {
    const bodies: Body[] = [];
    const sizes: number[] = [];
    const blobs = { blobBytes: 0 };
    let size = 0;
    let to = from;
    for (; to < length && size < full; to++) {
      const body = part.body(to) as Body;
      const own = rowSize(keys[to] as string, body, hasStamps, undefined, blobs);
      bodies.push(body);
      sizes.push(own);
      size += own;
    }
    const rows = { from, to };
    yield {
      deletes: [],
      records: part.hasMade(rows) ? recordsOf(part, rows, sizes) : [],
      rows: {
        columns: (names) => part.segmentColumns(rows, Uint32Array.from(sizes), names),
        stored: (segment) => part.stored(rows, segment),
      },
      bodies,
      size,
      ...blobs,
    };
    from = to;
  }
}

/** One of them is an object: what columns say of it does not count. */
function recordsOf(part: RecordPart, { from, to }: Rows, sizes: readonly number[]): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let row = from; row < to; row++) {
    const record = part.at(row);
    record.size = sizes[row - from] as number;
    records.push(record);
  }
  return records;
}
