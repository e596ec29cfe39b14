import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { thrown } from './outcomes.ts';

interface Order {
  city?: string;
  amount: number;
}

const TOTALS = [{ $group: { _id: '$city', total: { $sum: '$amount' }, n: { $sum: 1 } } }];

/** liveAggregate(). */
export function liveAggregateSuite(fixture: ClientFixture): void {
  describe('liveAggregate', () => {
    const orders = async () => {
      const made = fixture.documents<Order>();
      await made.insertMany([
        { _id: 'a', city: 'Oslo', amount: 1 },
        { _id: 'b', city: 'Rome', amount: 2 },
        { _id: 'c', city: 'Oslo', amount: 0.1 },
      ]);
      return made;
    };

    test('follows changes, and keeps what is the same', async () => {
      const things = await orders();
      const totals = things.liveAggregate(TOTALS);
      const log = new LiveLog(totals);
      const first = await log.until(() => true);
      expect(first).toEqual([
        { _id: 'Oslo', total: 1.1, n: 2 },
        { _id: 'Rome', total: 2, n: 1 },
      ]);
      expect(Object.isFrozen(first[0])).toBe(true);
      await things.insert({ city: 'Rome', amount: 5 });
      const second = totals.getSnapshot().data;
      expect(second).toEqual([
        { _id: 'Oslo', total: 1.1, n: 2 },
        { _id: 'Rome', total: 7, n: 2 },
      ]);
      expect(second?.[0]).toBe(first[0]);
      // The group whose first document goes moves behind.
      await things.delete('a');
      expect(totals.getSnapshot().data).toEqual([
        { _id: 'Rome', total: 7, n: 2 },
        { _id: 'Oslo', total: 0.1, n: 1 },
      ]);
      await things.deleteMany({});
      expect(totals.getSnapshot().data).toEqual([]);
      log.stop();
    });

    test('a change that concerns no group emits nothing', async () => {
      const things = await orders();
      const log = new LiveLog(
        things.liveAggregate([{ $match: { amount: { $gt: 0.5 } } }, ...TOTALS]),
      );
      await log.until(() => true);
      const before = log.snapshots.length;
      await things.insert({ city: 'Bonn', amount: 0.2 });
      await things.patch('c', { amount: 0.3 });
      expect(log.snapshots.length).toBe(before);
      await things.patch('c', { amount: 3 });
      expect(log.snapshots.at(-1)?.data?.[0]).toEqual({ _id: 'Oslo', total: 4, n: 2 });
      log.stop();
    });

    test('a pipeline that has to run again follows too', async () => {
      const things = await orders();
      const log = new LiveLog(
        things.liveAggregate<{ _id: string; amount: number }>([
          { $sort: { amount: -1 } },
          { $limit: 2 },
          { $project: { amount: 1 } },
        ]),
      );
      await log.until((data) => data[0]?._id === 'b' && data[1]?._id === 'a');
      await things.patch('c', { amount: 9 });
      await log.until((data) => data[0]?._id === 'c' && data[0].amount === 9);
      log.stop();
    });

    test('follows the collections that it looks into', async () => {
      const things = await orders();
      const cities = fixture.documents({ name: 'cities', activate_drop_method: true });
      await cities.insert({ _id: 'Oslo', land: 'NO' });
      const join = { localField: 'city', foreignField: '_id', as: 'in' };
      const log = new LiveLog(
        things.liveAggregate<{ land: string[] }>([
          { $group: { _id: '$city', city: { $first: '$city' } } },
          { $limit: 1 },
          { $lookup: { from: cities.name, ...join } },
          { $project: { _id: 0, land: '$in.land' } },
        ]),
      );
      await log.until((data) => data[0]?.land[0] === 'NO');
      await cities.patch('Oslo', { land: 'SE' });
      await log.until((data) => data[0]?.land[0] === 'SE');
      // Both at once: never the one without the other.
      await fixture.db.transaction(async (tx) => {
        await tx(cities).delete('Oslo');
        await tx(things).patch('a', { city: 'Rome' });
        await tx(cities).insert({ _id: 'Rome', land: 'IT' });
      });
      await log.until((data) => data[0]?.land[0] === 'IT');
      expect(log.snapshots.map(({ data }) => data?.[0]?.land[0])).not.toContain(undefined);
      const missing = new LiveLog(things.liveAggregate([{ $unionWith: 'none' }]));
      expect(await missing.error()).toMatchObject({ code: 'operand_invalid' });
      await cities.Drop();
      await log.error();
      log.stop();
    });

    test('shows a restored backup, and the changes of a transaction at once', async () => {
      const things = await orders();
      const totals = things.liveAggregate(TOTALS);
      const log = new LiveLog(totals);
      const before = await log.until(() => true);
      const backup = await things.createBackup();
      await fixture.db.transaction(async (tx) => {
        await tx(things).patch('a', { city: 'Rome' });
        await tx(things).patch('c', { city: 'Rome' });
      });
      expect(totals.getSnapshot().data).toEqual([{ _id: 'Rome', total: 3.1, n: 3 }]);
      await things.loadBackup(backup);
      expect(await log.until((data) => data.length === 2)).toEqual(before);
      log.stop();
    });

    test('says what is wrong, and ends with its collection', async () => {
      const things = await orders();
      const refused = new LiveLog(things.liveAggregate([{ $group: { total: { $sum: 1 } } }]));
      expect(await refused.error()).toMatchObject({ code: 'operand_invalid' });
      const failing = new LiveLog(
        things.liveAggregate([{ $group: { _id: { $divide: [1, '$amount'] }, n: { $sum: 1 } } }]),
      );
      await failing.until((data) => data.length === 3);
      await things.insert({ amount: 0 });
      expect((await failing.error()).code).toBe('operand_invalid');
      expect(thrown(() => things.liveAggregate([], { limit: 1 } as object))).toMatchObject({
        code: 'option_unknown',
      });
      const totals = things.liveAggregate(TOTALS);
      const log = new LiveLog(totals);
      await log.until(() => true);
      totals.close();
      expect((await log.error()).code).toBe('closed');
    });
  });
}
