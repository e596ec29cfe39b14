import { expect, test } from 'vitest';
import { LiveRecords, SnapshotReader } from '../../src/backup/snapshot-reader.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { hashKeys } from '../../src/storage/segments/key-hashes.ts';
import { buildSegment, type Segment, segmentSizes } from '../../src/storage/segments/segment.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { putSegment } from '../../src/storage/segments/stored-segment.ts';
import { fc, runs } from '../setup/properties.ts';
import { COLLIDING } from '../storage/colliding-keys.ts';

const keys = [...COLLIDING.flat(), 'a', 'b', ''];

const segmentsOf = fc.array(
  fc.record({
    keys: fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 4 }),
    deletes: fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 2 }),
  }),
  { maxLength: 8 },
);

test('the newest record of each key is live, also with hash collisions', async () => {
  await fc.assert(
    fc.asyncProperty(segmentsOf, async (contents) => {
      const segments = contents.map((content, at) => ({ number: at * 2 + 1, ...content }));
      const expected = new Map<string, string>();
      for (const { number, keys, deletes } of segments) {
        for (const key of deletes) expected.delete(key);
        for (const [index, key] of keys.entries()) expected.set(key, `${number}:${index}`);
      }
      const rows = await LiveRecords.find(
        async (numbers, take) => {
          for (const wanted of numbers) {
            const segment = segments.find(({ number }) => number === wanted) as unknown as Segment;
            take(segment, hashKeys(segment.keys));
          }
        },
        segments.map(({ number }) => number),
      );
      const live = segments.flatMap(({ number, keys }) => {
        const isLive = rows.isLive(number);
        return keys.flatMap((_, index) => (isLive(index) ? `${number}:${index}` : []));
      });
      expect(live.sort()).toEqual([...expected.values()].sort());
      expect(rows.count).toBe(expected.size);
    }),
    runs(500),
  );
});

test('segments are read again only for duplicate keys', async () => {
  const segments = [['a', 'b'], ['c'], ['d', 'a'], ['e']].map((keys, at) => ({
    number: at,
    keys,
    deletes: [] as string[],
  }));
  const asked: (readonly number[])[] = [];
  const rows = await LiveRecords.find(
    async (numbers, take) => {
      asked.push(numbers);
      for (const number of numbers) {
        const segment = segments[number] as unknown as Segment;
        take(segment, hashKeys(segment.keys));
      }
    },
    [0, 1, 2, 3],
  );
  expect(asked).toEqual([
    [0, 1, 2, 3],
    [2, 0],
  ]);
  expect(rows.count).toBe(5);
});

test('each read is bounded in bytes', async () => {
  const storage = await memoryDriver().open('x', { damaged: () => undefined });
  const body = JSON.stringify('b'.repeat(800_000));
  const small = JSON.stringify('s');
  const bodies = [body, body, body, ...Array.from({ length: 20 }, () => small), body];
  for (const [at, each] of bodies.entries()) {
    const number = at + 1;
    const record = new StoredRecord(`k${at}`, number, 0, undefined, each);
    record.size = each.length;
    const content = {
      deletes: [],
      records: [record],
      bodies: [each],
      size: each.length,
      blobBytes: 0,
    };
    const built = buildSegment(content, { number, after: at }, [], segmentSizes({}));
    await storage.write(
      [
        putSegment('c', built.segment),
        { type: 'put', store: 'bodies', key: ['c', number], value: built.bodies },
      ],
      'relaxed',
    );
  }
  const atOnce: number[] = [];
  const counting: typeof storage = Object.assign(Object.create(storage), {
    getMany: (...[store, wanted]: Parameters<typeof storage.getMany>) => {
      if (store === 'bodies' && wanted.length > 0) atOnce.push(wanted.length);
      return storage.getMany(store, wanted);
    },
  });
  const numbers = bodies.map((_, at) => at + 1);
  const reader = await SnapshotReader.open(counting, 'c', numbers);
  const read: string[] = [];
  const header = { collection: 'c', type: 'DOCUMENT_BASED', created_at: 0, options: {} } as const;
  for await (const part of reader.section(header))
    if (part.kind === 'records') read.push(...part.records.map(({ key }) => key));
  expect(read).toEqual(bodies.map((_, at) => `k${at}`));
  expect(atOnce).toEqual([1, 1, 21, 1]);
});
