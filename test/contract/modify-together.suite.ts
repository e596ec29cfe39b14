import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { thrown } from './outcomes.ts';

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
