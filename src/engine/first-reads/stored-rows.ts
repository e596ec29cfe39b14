import type { Body } from '../../codec/body.ts';
import { isBodyIntact } from '../../storage/integrity/body-checks.ts';
import { documentLost } from '../../storage/segments/lost-data.ts';
import { readRecord } from '../../storage/segments/parts/record-part.ts';
import { readListed, type TakeSegment } from '../../storage/segments/read-segments.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../collections/collection-context.ts';

/**
 * Reads rows of segments. Bodies come with them, unless storage reads them one by one; only those of the rows are checked.
 *
 * @param rows By the number of their segment.
 * @throws {StorageError} `data_damaged`
 */
export async function readRows(
  { storage, settings, records }: Pick<CollectionContext, 'storage' | 'settings' | 'records'>,
  rows: ReadonlyMap<number, readonly number[]>,
): Promise<StoredRecord[]> {
  const { name } = settings;
  const withBodies = !storage.getItem;
  const found: StoredRecord[] = [];
  const take: TakeSegment = (segment, _, stored) => {
    records.log.bodies.note(segment);
    const bodies = stored as readonly Body[] | undefined;
    for (const row of rows.get(segment.number) as readonly number[]) {
      const body = bodies?.[row];
      const record = readRecord(segment, row, body);
      if (withBodies && !isBodyIntact(body, segment.checks[row]))
        throw documentLost(name, segment.number, record.key);
      found.push(record);
    }
  };
  const numbers = [...rows.keys()].sort((a, b) => a - b);
  await readListed(storage, name, numbers, take, withBodies);
  return found;
}
