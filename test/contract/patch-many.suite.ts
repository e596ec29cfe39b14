import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { LiveLog } from './live-log.ts';
import { EventLog, own, rejection } from './outcomes.ts';

interface Thing {
  n: number;
  city?: string;
  tags?: string[];
}

/** patchMany: which documents it changes, and that it changes all or none. */
export function patchManySuite(fixture: ClientFixture): void {
  describe('patchMany', () => {
    const things = async (count: number) => {
      const made = fixture.documents<Thing>();
      await made.insertMany(
        Array.from({ length: count }, (_, n) => ({
          _id: `t${n}`,
          n,
          city: n % 2 ? 'Oslo' : 'Rome',
        })),
      );
      return made;
    };
    const numbers = async (of: Awaited<ReturnType<typeof things>>) =>
      (await of.filter({}, { archived: true })).map(({ n }) => n);

    test('changes all that match, by fields or operators, and says how many', async () => {
      const all = await things(5);
      expect(await all.patchMany({ city: 'Oslo' }, { $inc: { n: 10 } })).toBe(2);
      expect(await all.patchMany({ n: { $gte: 4 } }, { city: 'Bonn', tags: ['x'] })).toBe(3);
      const documents = [
        { n: 0, city: 'Rome' },
        { n: 11, city: 'Bonn', tags: ['x'] },
        { n: 2, city: 'Rome' },
        { n: 13, city: 'Bonn', tags: ['x'] },
        { n: 4, city: 'Bonn', tags: ['x'] },
      ];
      expect(own(await all.filter({}))).toEqual(documents);
      expect((await all.filter({ _updated: true })).map(({ n }) => n)).toEqual([11, 13, 4]);
      await fixture.reopen();
      expect(own(await fixture.documents().filter({}))).toEqual(documents);
    });

    test('refuses options that would leave out matches, and so does deleteMany', async () => {
      const all = await things(3);
      const given = { limit: 1, skip: 1, sort: { n: -1 }, select: ['n'], after: { _id: 't0' } };
      for (const [option, value] of Object.entries(given)) {
        const options = { [option]: value } as never;
        const calls = [
          () => all.patchMany({}, { n: 9 }, options),
          () => all.patchMany(() => true, { n: 9 }, options),
          () => all.deleteMany({}, options),
          () => fixture.db.transaction((tx) => tx(all).deleteMany({}, options)),
        ];
        for (const call of calls) {
          expect(await rejection(call())).toMatchObject({
            ...{ name: 'OptionError', code: 'option_unknown', place: option },
          });
        }
      }
      expect(await numbers(all)).toEqual([0, 1, 2]);
    });

    test('refuses an operator as the value of a field, as patch does', async () => {
      const all = await things(2);
      const wrong = { n: { $inc: 1 } } as never;
      const calls = [() => all.patchMany({}, wrong), () => all.patch('t0', wrong)];
      for (const call of calls) {
        const error = await rejection(call());
        expect(error).toMatchObject({ code: 'update_invalid', place: 'changes.n' });
        expect(error.message).toContain('{ $inc: { n: 1 } }');
      }
      expect(await numbers(all)).toEqual([0, 1]);
    });

    test('changes the documents that a function or `where` chooses', async () => {
      const all = await things(6);
      expect(await all.patchMany(({ n }) => n > 3, { $inc: { n: 10 } })).toBe(2);
      const where = ({ n }: Thing) => n < 2;
      expect(await all.patchMany({ city: 'Oslo' }, { $inc: { n: 100 } }, { where })).toBe(1);
      expect(await numbers(all)).toEqual([0, 101, 2, 3, 14, 15]);
    });

    test('leaves archived documents alone unless asked', async () => {
      const all = await things(4);
      await all.archive('t1');
      await all.archive('t2');
      const more = { $inc: { n: 10 } };
      expect(await all.patchMany({}, more)).toBe(2);
      expect(await all.patchMany(() => true, more, { archived: 'only' })).toBe(2);
      expect(await all.patchMany({ n: { $gte: 0 } }, more, { archived: true })).toBe(4);
      expect(await numbers(all)).toEqual([20, 21, 22, 23]);
      expect(await all.count({}, { archived: 'only' })).toBe(2);
    });

    test('gives each document its stamp, of one instant', async () => {
      const made = fixture.documents<Thing, '_updated_timestamp'>({
        indicate_updated_timestamp: true,
      });
      await made.insertMany([{ n: 1 }, { n: 2 }]);
      await made.patchMany({}, { $currentDate: { at: { $type: 'timestamp' } } } as never);
      const found = (await made.filter({})) as unknown as {
        _updated_timestamp: number;
        at: number;
      }[];
      const instants = new Set(found.flatMap((one) => [one._updated_timestamp, one.at]));
      expect(found.length).toBe(2);
      expect(instants.size).toBe(1);
    });

    test('changes none where one document refuses the change', async () => {
      const all = await things(300);
      await all.patch('t299', { $unset: { n: '' } } as never);
      await all.patch('t299', { n: 'text' } as never);
      const before = await all.filter({});
      for (const [params, changes, error] of [
        [{}, { $inc: { n: 1 } }, { code: 'kind_mismatch', place: 'n' }],
        [() => true, { $inc: { n: 1 } }, { code: 'kind_mismatch', place: 'n' }],
        [{}, { 'n.deep': 1 }, { code: 'kind_mismatch', place: 'n.deep' }],
        [{}, { $ince: { n: 1 } }, { code: 'update_invalid', place: 'changes.$ince' }],
        [{ n: { $gtt: 1 } }, { $inc: { n: 1 } }, {}],
      ] as const) {
        const failure = await rejection(all.patchMany(params as never, changes as never));
        expect(failure instanceof fixture.lib.CairnError).toBe(true);
        expect(failure).toMatchObject(error);
        expect(await all.filter({})).toEqual(before);
      }
      await fixture.reopen();
      expect(await fixture.documents().filter({})).toEqual(before);
    });

    test('without a match changes nothing, and tells nothing', async () => {
      const all = await things(2);
      const log = new EventLog(all, 'change');
      expect(await all.patchMany({ n: 9 }, { $inc: { n: 1 } })).toBe(0);
      expect(await all.patchMany(() => false, { $inc: { n: 1 } })).toBe(0);
      await all.insert({ _id: 'last', n: 5 });
      await log.until((events) => events.length > 0);
      expect(log.events.flatMap(({ changes }) => changes)).toEqual([
        { id: 'last', kind: 'insert' },
      ]);
      expect(await numbers(all)).toEqual([0, 1, 5]);
    });

    test('names the change of each document in one event', async () => {
      const all = await things(4);
      const log = new EventLog(all, 'change');
      await all.patchMany({ city: 'Oslo' }, { $inc: { n: 1 } });
      await log.until((events) => events.length > 0);
      expect(log.events.map(({ changes }) => changes)).toEqual([
        [
          { id: 't1', kind: 'update' },
          { id: 't3', kind: 'update' },
        ],
      ]);
    });

    test('shows in live queries at once: never a part of it', async () => {
      const all = await things(50);
      const shown = new LiveLog(all.live({}));
      const few = new LiveLog(all.live({ n: { $lt: 10 } }, { sort: { n: -1 } }));
      const count = new LiveLog(all.liveCount({ n: { $gte: 1000 } }));
      for (const log of [shown, few, count]) await log.until(() => true);
      await all.patchMany({ n: { $gte: 5 } }, { $inc: { n: 1000 } });
      expect(await count.until((matching) => matching > 0)).toBe(45);
      const ready = ({ snapshots }: { snapshots: readonly { status: string; data?: unknown }[] }) =>
        snapshots.filter(({ status }) => status === 'ready').map(({ data }) => data);
      await few.until((data) => data.length < 10);
      await shown.until((data) => data.some(({ n }) => n > 1000));
      expect(
        ready(shown).map((data) => (data as Thing[]).filter(({ n }) => n > 999).length),
      ).toEqual([0, 45]);
      expect(ready(few).map((data) => (data as Thing[]).length)).toEqual([10, 5]);
      expect(ready(count)).toEqual([0, 45]);
      for (const log of [shown, few, count]) log.stop();
    });

    test('changes a document once, though the change makes it match again', async () => {
      const made = fixture.documents<Thing>({ indexes: ['n'] });
      await made.insertMany(Array.from({ length: 2000 }, (_, n) => ({ n })));
      expect(await made.patchMany({ n: { $gte: 0 } }, { $inc: { n: 5 } })).toBe(2000);
      expect((await made.filter({})).map(({ n }) => n)).toEqual(
        Array.from({ length: 2000 }, (_, n) => n + 5),
      );
      expect(await made.count({ n: { $lt: 5 } })).toBe(0);
      expect(await made.count({ n: { $gte: 5 } })).toBe(2000);
    });

    test('takes effect between the calls before and after it', async () => {
      const all = await things(3);
      const counts = await Promise.all([
        all.patchMany({}, { $inc: { n: 10 } }),
        all.insert({ _id: 'new', n: 1 }),
        all.patchMany(({ n }) => n < 12, { $inc: { n: 100 } }),
        all.delete('t0'),
        all.patchMany({}, { $mul: { n: 2 } }),
      ]);
      expect(counts).toMatchObject([3, { n: 1 }, 3, true, 3]);
      expect(await numbers(all)).toEqual([222, 24, 202]);
    });

    test('refuses bad arguments and an aborted signal', async () => {
      const all = await things(2);
      for (const changes of [undefined, null, 1, 'n', [], () => ({})]) {
        expect(await rejection(all.patchMany({}, changes as never))).toMatchObject({
          code: 'document_invalid',
          place: 'changes',
        });
      }
      for (const params of [null, 5, 'n']) {
        const error = await rejection(all.patchMany(params as never, { n: 1 }));
        expect(error instanceof fixture.lib.CairnError).toBe(true);
      }
      expect((await rejection(all.patchMany({}, { n: 1 }, { wher: 1 } as never))).code).toBe(
        'option_unknown',
      );
      const reason = new RangeError('enough');
      const signal = AbortSignal.abort(reason);
      expect(await rejection(all.patchMany({}, { n: 1 }, { signal }))).toBe(reason);
      expect(await numbers(all)).toEqual([0, 1]);
    });

    test('given up on the way changes all or none', async () => {
      const all = await things(20_000);
      const controller = new AbortController();
      const { signal } = controller;
      const doomed = all.patchMany(
        {},
        { $set: { city: 'Bonn' }, $push: { tags: 'x' } },
        { signal },
      );
      // The engine has begun when it answers this.
      await all.get('t0');
      controller.abort();
      await doomed.catch(() => undefined);
      expect([0, 20_000]).toContain(await all.count({ city: 'Bonn' }));
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('works without promises', async () => {
      const all = await things(4);
      await all.ready;
      expect(all.sync.patchMany({ city: 'Oslo' }, { $inc: { n: 10 } })).toBe(2);
      expect(all.sync.patchMany(({ n }) => n > 10, { city: 'Bonn' })).toBe(2);
      expect(all.sync.count({ city: 'Bonn' })).toBe(2);
    });
  });
}
