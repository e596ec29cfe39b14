import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

interface Thing {
  n: number;
}

/** modify of one document by several calls at the same time, and without promises. */
export function modifyTogetherSuite(fixture: ClientFixture): void {
  describe('modify at the same time', () => {
    test('adds up: a hundred of each of two handles', async () => {
      const handles = [fixture.documents<Thing>(), fixture.documents<Thing>()];
      await handles[0]?.insert({ _id: 'a', n: 0 });
      const calls = handles.flatMap((things, at) =>
        Array.from({ length: 100 }, () =>
          things.modify(
            'a',
            at === 0
              ? ({ n }) => ({ n: n + 1 })
              : async ({ n }) => {
                  await Promise.resolve();
                  return { n: n + 1 };
                },
            { retries: 1000 },
          ),
        ),
      );
      const stored = await Promise.all(calls);
      expect((await handles[0]?.get('a'))?.n).toBe(200);
      expect(new Set(stored.map((one) => one?.n)).size).toBe(200);
    });

    test('runs the functions of one document or record one after the other', async () => {
      const handles = [fixture.documents<Thing>(), fixture.documents<Thing>()] as const;
      const values = fixture.keyValues();
      await handles[0].insert({ _id: 'a', n: 0 });
      let runs = 0;
      const calls = Array.from({ length: 200 }, (_, call) => [
        handles[call % 2]?.modify('a', async ({ n }) => {
          runs++;
          await Promise.resolve();
          return { n: n + 1 };
        }),
        values.modify<number>(call % 2 ? 'count.all' : ['count', 'all'], async (n = 0) => {
          runs++;
          return n + 1;
        }),
      ]);
      await Promise.all(calls.flat());
      expect(await handles[0].get('a')).toMatchObject({ n: 200 });
      expect(await values.get('count.all')).toBe(200);
      // One each; where a call takes longer than it is waited for, a few more.
      expect(runs).toBeLessThan(400 + 100);
    });

    test('a call that throws, or finds nothing, lets the next go on', async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'a', n: 0 });
      const add = () => things.modify('a', ({ n }) => ({ n: n + 1 }));
      const reason = new RangeError('no');
      const failing = things.modify('a', () => Promise.reject(reason));
      const outcomes = [add(), rejection(failing), things.modify('b', () => ({ n: 1 })), add()];
      expect(await Promise.all(outcomes)).toMatchObject([{ n: 1 }, reason, undefined, { n: 2 }]);
      expect((await things.modify('a', ({ n }) => ({ n: n + 1 })))?.n).toBe(3);
    });

    test('one that is aborted while it waits, or while its function runs, blocks none', async () => {
      const things = fixture.documents<Thing>();
      await things.insert({ _id: 'a', n: 0 });
      const controller = new AbortController();
      const { signal } = controller;
      const reason = new RangeError('enough');
      const endless = things.modify('a', () => new Promise<never>(() => undefined), { signal });
      const waiting = things.modify('a', () => ({ n: 9 }), { signal });
      const next = things.modify('a', ({ n }) => ({ n: n + 1 }));
      const failed = [rejection(endless), rejection(waiting)];
      controller.abort(reason);
      expect(await Promise.all(failed)).toEqual([reason, reason]);
      expect((await next)?.n).toBe(1);
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('works without promises, but for an async function', async () => {
      const things = fixture.documents<Thing>();
      await things.ready;
      const { sync } = things;
      sync.insert({ _id: 'a', n: 1 });
      expect(sync.modify('a', ({ n }) => ({ n: n + 1 }))).toMatchObject({ n: 2, _updated: true });
      expect(sync.modify('nobody', () => ({ n: 1 }))).toBe(undefined);
      const error = thrown(() => sync.modify('a', (async () => ({ n: 9 })) as never));
      expect(error).toMatchObject({ code: 'value_unsupported', place: 'change' });
      expect(error.message).toContain('collection.sync');
      let runs = 0;
      const conflict = thrown(() =>
        sync.modify(
          'a',
          () => {
            sync.patch('a', { $inc: { n: ++runs } });
            return { n: 0 };
          },
          { retries: 2 },
        ),
      );
      expect(conflict.code).toBe('transaction_conflict');
      expect(sync.get('a')?.n).toBe(8);
    });
  });
}
