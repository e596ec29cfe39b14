import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { thrown } from './outcomes.ts';

interface Task {
  n: number;
  text?: string;
  done?: boolean;
}

/** The data of live queries. */
export function liveSuite(fixture: ClientFixture): void {
  const tasksOf = (count: number) => Array.from({ length: count }, (_, n) => ({ _id: `t${n}`, n }));
  const tasks = async (count: number) => {
    const things = fixture.documents<Task>();
    if (count > 0) await things.insertMany(tasksOf(count));
    return things;
  };
  const numbers = (data: readonly { n: number }[]) => data.map(({ n }) => n);

  describe('a live query', () => {
    test('shows the matches and follows every kind of change', async () => {
      const things = await tasks(4);
      const query = things.live({ n: { $gte: 1 } });
      const log = new LiveLog(query);
      expect(numbers(await log.until(() => true))).toEqual([1, 2, 3]);
      const steps: [() => Promise<unknown>, number[]][] = [
        [() => things.insert({ _id: 'new', n: 9 }), [1, 2, 3, 9]],
        [() => things.update('t2', { n: 7 }), [1, 7, 3, 9]],
        [() => things.patch('t1', { n: 0 }), [7, 3, 9]],
        [() => things.update('t0', { n: 5 }), [5, 7, 3, 9]],
        [() => things.archive('t3'), [5, 7, 9]],
        [() => things.unarchive('t3'), [5, 7, 3, 9]],
        [() => things.delete('new'), [5, 7, 3]],
        [() => things.insertMany([{ n: 10 }, { n: 0 }, { n: 11 }]), [5, 7, 3, 10, 11]],
        [() => things.deleteMany({ n: { $gt: 6 } }), [5, 3]],
        [() => things.upsert({ _id: 't2', n: 4 }), [5, 3, 4]],
      ];
      for (const [change, after] of steps) {
        await change();
        const data = await log.until((now) => String(numbers(now)) === String(after));
        expect(data).toEqual(await things.filter({ n: { $gte: 1 } }));
      }
      expect(log.snapshots.length).toBe(steps.length + 1);
      log.stop();
    });

    test('returns frozen documents: changing one throws', async () => {
      const things = fixture.documents();
      const [kept] = await things.insertMany([
        { _id: 'a', tags: ['x'], size: { width: 1 }, days: new Map([['mon', { open: true }]]) },
        { _id: 'b', bytes: new Uint8Array(2), at: new Date(0) },
      ]);
      const queries = [
        things.live({}),
        things.live({}, { select: ['tags', 'size', 'days', 'bytes'] }),
        things.live((thing) => thing._id !== '', { where: () => true }),
      ];
      for (const query of queries) {
        const { data } = await query.ready;
        const [a, b] = data as any[];
        const changes = [
          () => a.tags.push('y'),
          () => {
            a.size.width = 2;
          },
          () => {
            a.days.get('mon').open = false;
          },
          () => {
            b._id = 'c';
          },
          () => (data as any[]).pop(),
        ];
        for (const change of changes) expect(thrown(change).name).toBe('TypeError');
        // Readers have to leave alone values that cannot be frozen.
        b.bytes[0] = 1;
      }
      const document = things.liveDocument('a');
      expect(Object.isFrozen((await document.ready).data)).toBe(true);
      expect(Object.isFrozen(kept)).toBe(false);
      expect(Object.isFrozen(await things.get('a'))).toBe(false);
      expect(await things.update('a', { ...(await document.ready).data })).toMatchObject({
        tags: ['x'],
      });
    });

    test('keeps unchanged documents the same objects, and old snapshots unchanged', async () => {
      const things = await tasks(3);
      const query = things.live({});
      const log = new LiveLog(query);
      const before = await log.until(({ length }) => length === 3);
      expect(query.getSnapshot()).toBe(query.getSnapshot());
      await things.update('t1', { n: 5 });
      const after = await log.until((data) => data[1]?.n === 5);
      expect(after[0]).toBe(before[0]);
      expect(after[1] === before[1]).toBe(false);
      expect(after[2]).toBe(before[2]);
      expect(numbers(before)).toEqual([0, 1, 2]);
      log.stop();
    });

    test('emits nothing for a change outside its result', async () => {
      const things = await tasks(3);
      await things.update('t1', { n: 1 });
      await things.save();
      const log = new LiveLog(things.live({ n: { $lt: 3 } }));
      await log.until(() => true);
      await things.insert({ n: 9 });
      await things.update('t1', { n: 1 });
      await things.insert({ _id: 'x', n: 8 });
      await things.delete('x');
      await things.insert({ n: 2 });
      await log.until(({ length }) => length === 4);
      expect(log.snapshots.length).toBe(2);
      log.stop();
    });

    test('emits once for one call and for concurrent calls', async () => {
      const things = await tasks(0);
      const log = new LiveLog(things.live({}));
      await log.until(() => true);
      await things.insertMany(tasksOf(500));
      await log.until(({ length }) => length === 500);
      await Promise.all([things.delete('t0'), things.delete('t1'), things.insert({ n: -1 })]);
      await log.until(({ length }) => length === 499);
      await things.deleteMany({ n: { $gte: 10 } });
      await log.until(({ length }) => length === 9);
      expect(log.snapshots.map(({ data }) => data?.length)).toEqual([0, 500, 499, 9]);
      log.stop();
    });

    test('of many documents is complete from its first snapshot on', async () => {
      const things = await tasks(0);
      await things.insertMany(tasksOf(10_000).map((task) => ({ ...task, text: 'x'.repeat(250) })));
      const log = new LiveLog(things.live({}));
      const before = await log.until(() => true);
      expect(before.length).toBe(10_000);
      await things.update('t5000', { n: -1 });
      const after = await log.until((data) => data[5000]?.n === -1);
      expect(log.snapshots.length).toBe(2);
      expect(after.filter((task, at) => task !== before[at]).length).toBe(1);
      log.stop();
    });

    test('neither misses nor repeats changes made while it begins', async () => {
      const things = await tasks(3000);
      await things.save();
      const query = things.live({}, { sort: { n: -1 } });
      const log = new LiveLog(query);
      for (let n = 3000; n < 3040; n++) {
        await things.insert({ _id: `t${n}`, n });
        await things.delete(`t${n - 3000}`);
        await things.update(`t${n - 1500}`, { n: n - 1500 });
      }
      await things.insert({ _id: 'last', n: 4000 });
      const data = await log.until((now) => now[0]?.n === 4000);
      expect(data).toEqual((await things.filter({})).sort((a, b) => b.n - a.n));
      log.stop();
    });

    test('includes archived documents as its option says', async () => {
      const things = await tasks(3);
      await things.archive('t1');
      const both = new LiveLog(things.live({}, { archived: true }));
      const archived = new LiveLog(things.live({}, { archived: 'only' }));
      expect(numbers(await both.until(() => true))).toEqual([0, 1, 2]);
      expect(numbers(await archived.until(() => true))).toEqual([1]);
      await things.archive('t0');
      await both.until((data) => data[0]?._archived === true);
      expect(numbers(await archived.until(({ length }) => length === 2))).toEqual([0, 1]);
      both.stop();
      archived.stop();
    });
  });

  describe('a live query with options', () => {
    test('sorts, with ties in order of insertion', async () => {
      const things = fixture.documents<Task>();
      await things.insertMany([3, 1, 2, 1].map((n, at) => ({ _id: `t${at}`, n })));
      const log = new LiveLog(things.live({}, { sort: { n: 1 } }));
      const ids = (data: readonly { _id: string }[]) => data.map(({ _id }) => _id).join();
      expect(ids(await log.until(() => true))).toBe('t1,t3,t2,t0');
      await things.update('t0', { n: 1 });
      await log.until((data) => ids(data) === 't0,t1,t3,t2');
      await things.patch('t1', { n: 9 });
      await log.until((data) => ids(data) === 't0,t3,t2,t1');
      log.stop();
    });

    test('shows a window of skip and limit, and refills it', async () => {
      const things = await tasks(200);
      await things.save();
      const log = new LiveLog(things.live({}, { sort: { n: -1 }, skip: 1, limit: 3 }));
      expect(numbers(await log.until(() => true))).toEqual([198, 197, 196]);
      for (let n = 199; n > 20; n--) await things.delete(`t${n}`);
      await log.until((data) => String(numbers(data)) === '19,18,17');
      await things.insert({ n: 18.5 });
      await log.until((data) => String(numbers(data)) === '19,18.5,18');
      await things.deleteMany({ n: { $gt: 1 } });
      await log.until((data) => String(numbers(data)) === '0');
      log.stop();
    });

    test('shows a window in order of insertion, too', async () => {
      const things = await tasks(500);
      await things.save();
      const log = new LiveLog(things.live({ n: { $gte: 10 } }, { limit: 2 }));
      expect(numbers(await log.until(() => true))).toEqual([10, 11]);
      await things.deleteMany({ n: { $lt: 400 } });
      await log.until((data) => String(numbers(data)) === '400,401');
      await things.update('t400', { n: 0 });
      await log.until((data) => String(numbers(data)) === '401,402');
      log.stop();
    });

    test.each<[string, object]>([
      ['a list', ['n', 'at']],
      ['an object', { text: 0, _updated: 0, _archived: 0 }],
    ])('with %s as select shows these fields, and emits nothing for others', async (_, select) => {
      const at = new Date(5);
      const things = fixture.documents<Task & { at: Date }>();
      await things.insert({ _id: 'a', n: 1, text: 'x', at });
      const log = new LiveLog(
        things.live({}, { select: select as ['n', 'at'], sort: { text: 1 } }),
      );
      expect(await log.until(() => true)).toEqual([{ _id: 'a', n: 1, at }]);
      await things.patch('a', { text: 'y' });
      await things.patch('a', { text: 'z' });
      await things.patch('a', { n: 2 });
      expect(await log.until((data) => data[0]?.n === 2)).toEqual([{ _id: 'a', n: 2, at }]);
      expect(log.snapshots.length).toBe(2);
      log.stop();
    });

    test('filters by functions, which run in the caller', async () => {
      const things = await tasks(20);
      const odd = ({ n }: Task) => n % 2 === 1;
      const small = new LiveLog(things.live(odd, { skip: 1, limit: 2, sort: { n: -1 } }));
      const where = new LiveLog(things.live({ n: { $lt: 6 } }, { where: odd, select: ['n'] }));
      const count = new LiveLog(things.liveCount({ n: { $gt: 3 } }, { where: odd }));
      expect(numbers(await small.until(() => true))).toEqual([17, 15]);
      expect(await where.until(() => true)).toEqual([1, 3, 5].map((n) => ({ _id: `t${n}`, n })));
      expect(await count.until(() => true)).toBe(8);
      await things.delete('t17');
      await things.update('t3', { n: 4 });
      await small.until((data) => String(numbers(data)) === '15,13');
      await where.until((data) => String(numbers(data)) === '1,5');
      await count.until((now) => now === 7);
      for (const log of [small, where, count]) log.stop();
    });

    test('shows managed fields', async () => {
      const things = fixture.documents<Task>({ indicate_created_timestamp: true });
      await things.insertMany(tasksOf(3));
      const log = new LiveLog(
        things.live(
          { _updated: true, ...({ _created_timestamp: { $gt: 0 } } as object) },
          { sort: { _id: -1 } },
        ),
      );
      expect(await log.until(() => true)).toEqual([]);
      await things.update('t0', { n: 0 });
      await things.update('t2', { n: 2 });
      const data = await log.until(({ length }) => length === 2);
      expect(data.map(({ _id }) => _id)).toEqual(['t2', 't0']);
      expect(data[0]).toEqual(await things.get('t2'));
      log.stop();
    });

    test('refuses bad options at the call', async () => {
      const things = await tasks(0);
      const values = fixture.keyValues();
      const wrong: [() => unknown, string, string][] = [
        [() => things.live({}, { limit: -1 }), 'option_invalid', 'limit'],
        [() => things.live({}, { skip: 0.5 }), 'option_invalid', 'skip'],
        [() => things.live({}, { throttle: -1 }), 'option_invalid', 'throttle'],
        [() => things.live({}, { after: { _id: 'a' } } as never), 'option_unknown', 'after'],
        [() => things.live({}, { sort: { n: () => 1 } } as never), 'sort_invalid', 'sort.n'],
        [() => things.live({}, { where: {} as never }), 'option_invalid', 'where'],
        [() => things.live({}, { archived: 1 as never }), 'option_invalid', 'archived'],
        [() => things.live({}, { limits: 1 } as never), 'option_unknown', 'limits'],
        [() => things.liveCount({}, { limit: 1 } as never), 'option_unknown', 'limit'],
        [() => things.live(5 as never), 'criteria_invalid', 'params'],
        [() => things.liveDocument(''), 'id_invalid', '_id'],
        [() => values.live({} as never), 'key_invalid', 'key'],
        [() => things.live({}).subscribe(5 as never), 'option_invalid', 'listener'],
      ];
      for (const [call, code, place] of wrong) expect(thrown(call)).toMatchObject({ code, place });
    });
  });

  describe('a live value', () => {
    test('may be a count', async () => {
      const things = await tasks(5);
      const log = new LiveLog(things.liveCount({ n: { $gt: 1 } }));
      const all = new LiveLog(things.liveCount());
      expect(await log.until(() => true)).toBe(3);
      await things.update('t4', { n: 6 });
      await things.insert({ n: 7 });
      expect(await log.until((count) => count !== 3)).toBe(4);
      await things.archive('t4');
      await log.until((count) => count === 3);
      await all.until((count) => count === 5);
      expect(log.snapshots.map(({ data }) => data)).toEqual([3, 4, 3]);
      log.stop();
      all.stop();
    });

    test('may be a document', async () => {
      const things = await tasks(2);
      const log = new LiveLog(things.liveDocument('x'));
      expect(await log.until(() => true)).toBe(undefined);
      await things.insert({ _id: 'x', n: 1 });
      const first = await log.until((data) => data !== undefined);
      expect(first).toEqual(await things.get('x'));
      await things.update('t0', { n: 8 });
      await things.archive('x');
      expect(await log.until((data) => data?._archived === true)).toMatchObject({ n: 1 });
      await things.delete('x');
      await log.until((data) => data === undefined);
      expect(log.snapshots.length).toBe(4);
      log.stop();
    });

    test('may be a key', async () => {
      const values = fixture.keyValues();
      const name = new LiveLog(values.live<string>('user.friends[0].name'));
      const whole = new LiveLog(values.live('user'));
      expect(await name.until(() => true)).toBe(undefined);
      await values.set('user.friends[0].name', 'Ada');
      expect(await name.until((data) => data !== undefined)).toBe('Ada');
      await values.set('user.age', 36);
      await values.set('other', 1);
      await whole.until((data) => (data as { age?: number } | undefined)?.age === 36);
      await values.delete('user');
      await name.until((data) => data === undefined);
      expect(name.snapshots.map(({ data }) => data)).toEqual([undefined, 'Ada', undefined]);
      name.stop();
      whole.stop();
    });

    test('may be of any kind that structured clone keeps', async () => {
      const values = fixture.keyValues();
      const log = new LiveLog(values.live<Map<string, Date>>('m'));
      await log.until(() => true);
      await values.set('m', new Map([['a', new Date(1)]]));
      await values.set('m', new Map([['a', new Date(1)]]));
      await values.set('m', new Map([['a', new Date(2)]]));
      await log.until((data) => data?.get('a')?.getTime() === 2);
      expect(log.snapshots.map(({ data }) => data?.get('a')?.getTime())).toEqual([undefined, 1, 2]);
      log.stop();
    });
  });
}
