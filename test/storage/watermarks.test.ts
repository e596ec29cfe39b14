import { expect, test } from 'vitest';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { type Watermark, Watermarks } from '../../src/storage/segments/watermarks.ts';
import { fc } from '../setup/properties.ts';
import { faultyDriver } from './faulty-driver.ts';
import { openRecords } from './record-rig.ts';

const DAY = 24 * 3600 * 1000;

test('a watermark is the highest applied number of one origin', () => {
  const marks = new Watermarks();
  expect(marks.of('a')).toBe(0);
  expect(marks.has('a', 1)).toBe(false);
  marks.note('a', 1, 10);
  marks.note('a', 2, 20);
  expect(marks.of('a')).toBe(2);
  expect([1, 2, 3].map((number) => marks.has('a', number))).toEqual([true, true, false]);
  expect(marks.has('b', 1)).toBe(false);
  expect([...marks]).toEqual([['a', 2, 20, undefined]]);
});

test('watermarks know exactly the applied numbers, in any order and with gaps', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), (numbers) => {
      const marks = new Watermarks();
      const applied = new Set<number>();
      for (const [at, number] of numbers.entries()) {
        marks.note('a', number, at);
        applied.add(number);
      }
      const stored = new Watermarks();
      stored.merge(structuredClone(marks.recent()) as Watermark[]);
      for (let number = 1; number <= 41; number++) {
        expect([number, marks.has('a', number)]).toEqual([number, applied.has(number)]);
        expect([number, stored.has('a', number)]).toEqual([number, applied.has(number)]);
      }
      expect(marks.of('a')).toBe(Math.max(0, ...numbers));
    }),
  );
});

test('old gaps beyond 256 are dropped, and their numbers count as applied', () => {
  const marks = new Watermarks();
  for (let number = 2; number <= 1200; number += 2) marks.note('a', number, number);
  const [mark] = marks as unknown as [Watermark];
  expect(mark[3]?.length).toBeLessThanOrEqual(256);
  expect(marks.has('a', 1199)).toBe(false);
  expect(marks.has('a', 1)).toBe(true);
});

test('merge takes newer stored watermarks and ignores older ones', () => {
  const marks = new Watermarks();
  marks.merge([
    ['a', 5, 10, [3]],
    ['b', 1, 10],
  ]);
  marks.merge([['a', 4, 5]]);
  expect(marks.of('a')).toBe(5);
  expect(marks.has('a', 3)).toBe(false);
  marks.merge([['a', 5, 20, []]]);
  expect(marks.has('a', 3)).toBe(true);
  expect([...marks].length).toBe(2);
});

test('watermarks that replays may need are kept, even if the clock was wrong by years', () => {
  for (const wrong of [-1000 * DAY, 1000 * DAY]) {
    const marks = new Watermarks();
    const now = 2000 * DAY;
    for (let client = 0; client < 300; client++) marks.note(`wrong ${client}`, 1, now + wrong);
    // Watermarks make a round trip through storage, some of them many times.
    const stored = new Watermarks();
    stored.merge(marks.recent());
    for (let client = 0; client < 300; client++) {
      stored.note(`right ${client}`, 1, now + client);
      const again = new Watermarks();
      again.merge(stored.recent());
      const kept = again.recent().filter(([origin]) => origin.startsWith('right'));
      expect(kept).toHaveLength(client + 1);
    }
    expect(stored.recent()).toHaveLength(300);
  }
});

test('storage returns watermarks in order of their latest change', async () => {
  const driver = faultyDriver();
  const leaders = [['b', 'a', 'c'], ['b', 'd'], ['a'], ['e', 'b']];
  let number = 0;
  for (const [epoch, clients] of leaders.entries()) {
    const rig = await openRecords(driver, { epoch });
    const { records } = rig;
    records.applied.load(records.log.watermarks);
    for (const client of clients) {
      const order = records.takeRank();
      records.put(new StoredRecord(`${++number}`, order, 0, undefined, '1'));
      records.applied.note({ client, handle: 1, number });
      await rig.save();
    }
  }
  const { log } = await openRecords(driver);
  expect(log.watermarks.recent().map(([origin]) => origin)).toEqual([
    'c#1',
    'd#1',
    'a#1',
    'e#1',
    'b#1',
  ]);
});

test('watermarks are kept for a week, the latest 256 for ever', () => {
  const marks = new Watermarks();
  const now = 1000 * DAY;
  for (let client = 0; client < 300; client++)
    marks.note(`old ${client}`, 1, now - 8 * DAY + client);
  // Up to 256, the clock does not matter.
  const few = new Watermarks();
  few.merge([...marks].slice(0, 256));
  few.note('newest', 1, now + 1000 * DAY);
  expect(few.recent().length).toBeGreaterThanOrEqual(256);
  expect(marks.recent()).toHaveLength(300);
  for (let client = 0; client < 300; client++) marks.note(`new ${client}`, 1, now + client);
  const recent = marks.recent().map(([origin]) => origin);
  expect(recent).toHaveLength(300);
  expect(recent.every((origin) => origin.startsWith('new'))).toBe(true);
  marks.note('old 7', 2, now);
  expect(marks.recent().map(([origin]) => origin)).toContain('old 7');
});
