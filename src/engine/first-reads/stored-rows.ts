import { isBodyIntact } from '../../storage/integrity/body-checks.ts';
import { documentLost } from '../../storage/segments/lost-data.ts';
import { readRecord } from '../../storage/segments/parts/record-part.ts';
import { later } from '../../storage/segments/read-segments.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { readIntact } from '../../storage/segments/stored-segment.ts';
import type { CollectionContext } from '../collections/collection-context.ts';

/** Segments read in one request: about 3 MB with their bodies. */
const AT_ONCE = 25;

/** Rows by the number of their segment. */
export type RowsBySegment = ReadonlyMap<number, readonly number[]>;

/**
 * Reads rows of segments. Bodies come with them, unless storage reads them one by one: the requests for segments and for
 * bodies overlap, and only the bodies of these rows are checked.
 *
 * @throws {StorageError} `data_damaged`
 */
export async function readRows(
  { storage, settings, records }: Pick<CollectionContext, 'storage' | 'settings' | 'records'>,
  rows: RowsBySegment,
): Promise<StoredRecord[]> {
  const { name } = settings;
  const numbers = [...rows.keys()].sort((a, b) => a - b);
  const read = (from: number): Promise<[unknown[], unknown[]]> => {
    const keys = numbers.slice(from, from + AT_ONCE).map((number) => [name, number]);
    const bodies = storage.getItem ? [] : storage.getMany('bodies', keys);
    return later(Promise.all([storage.getMany('segments', keys), bodies]));
  };
  const found: StoredRecord[] = [];
  let chunk = read(0);
  for (let from = 0; from < numbers.length; from += AT_ONCE) {
    const [segments, bodies] = await chunk;
    chunk = read(from + AT_ONCE);
    for (const [at, value] of segments.entries()) {
      const number = numbers[from + at] as number;
      const { segment } = readIntact(name, number, value);
      records.log.bodies.note(segment);
      const beside = bodies[at] as Partial<SegmentBodies> | undefined;
      for (const row of rows.get(number) as readonly number[]) {
        const record = readRecord(segment, row);
        found.push(record);
        if (storage.getItem) continue;
        const body = (segment.bodies ?? beside?.bodies)?.[row];
        if (!isBodyIntact(body, segment.checks[row])) throw documentLost(name, number, record.key);
        record.body = body;
      }
    }
  }
  return found;
}
