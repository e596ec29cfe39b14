import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { schemaOf } from './schemas/libraries.ts';

/** Read your own writes, in live queries of the same client. */
export function liveOwnChangesSuite(fixture: ClientFixture): void {
  describe('once a change is acknowledged, live queries of the client', () => {
    test('show it, for consecutive calls', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insertMany(Array.from({ length: 50 }, (_, n) => ({ _id: `t${n}`, n })));
      const all = things.live({ n: { $gte: 0 } });
      const last = things.live({}, { sort: { n: -1 }, limit: 3 });
      const count = things.liveCount();
      const one = things.liveDocument('t0');
      const evenOnes = things.live(({ n }) => n % 2 === 0);
      const queries = [all, last, count, one, evenOnes];
      const stops = queries.map((query) => query.subscribe(() => undefined));
      await Promise.all(queries.map((query) => query.ready));
      for (let n = 50; n < 80; n++) {
        await things.insert({ n });
        expect(all.getSnapshot().data?.at(-1)?.n).toBe(n);
        expect(last.getSnapshot().data?.[0]?.n).toBe(n);
        expect(count.getSnapshot().data).toBe(n + 1);
        await things.patch('t0', { n });
        expect(one.getSnapshot().data?.n).toBe(n);
        expect(evenOnes.getSnapshot().data).toEqual(
          await things.filter(({ n: number }) => number % 2 === 0),
        );
      }
      // More documents go than a query with a limit keeps in reserve.
      await things.deleteMany({ n: { $gte: 20 } });
      expect(last.getSnapshot().data?.map(({ n }) => n)).toEqual([19, 18, 17]);
      for (const stop of stops) stop();
    });

    test('show it, for concurrent calls', async () => {
      const things = fixture.documents<{ n: number }>();
      const values = fixture.keyValues<number>();
      const all = things.live({});
      const total = values.live('total');
      const stops = [all.subscribe(() => undefined), total.subscribe(() => undefined)];
      await Promise.all([all.ready, total.ready]);
      const calls: Promise<void>[] = [];
      for (let n = 1; n <= 40; n++) {
        // One batch for each.
        await Promise.resolve();
        const change = async () => {
          await things.insert({ n });
          expect(all.getSnapshot().data?.length).toBeGreaterThanOrEqual(n);
          expect(await values.increase('total', 1)).toBeLessThanOrEqual(
            Number(total.getSnapshot().data),
          );
        };
        calls.push(change());
      }
      await Promise.all(calls);
      expect(all.getSnapshot().data?.map(({ n }) => n)).toEqual(
        Array.from({ length: 40 }, (_, at) => at + 1),
      );
      expect(total.getSnapshot().data).toBe(40);
      for (const stop of stops) stop();
    });

    test('show it, for concurrent calls with patterns', async () => {
      const things = fixture.documents<{ name: string; seen?: boolean }>();
      await things.insertMany([{ name: 'b' }, { name: 'bc' }, { name: 'c' }, { name: 'cd' }]);
      const all = things.live({});
      const stop = all.subscribe(() => undefined);
      await all.ready;
      const shown = () =>
        all.getSnapshot().data?.map(({ name, seen }) => (seen ? `${name} seen` : name));
      const calls = [
        things.insert({ name: 'a' }).then(() => expect(shown()).toContain('a')),
        things.deleteMany({ name: /b$/ }).then(() => expect(shown()).not.toContain('b')),
        things.deleteMany({ name: /bc/ }).then(() => expect(shown()).not.toContain('bc')),
        things.patchMany({ name: /d/ }, { seen: true }),
        things.find({ name: /c/ }),
      ];
      await Promise.all(calls);
      expect(shown()).toEqual(['c', 'cd seen', 'a']);
      stop();
    });
  });

  describe('a live query that ends with news on its way', () => {
    const ending = async (schema?: ReturnType<typeof schemaOf>) => {
      const things = fixture.documents<{ name: string }>({ schema });
      await things.insert({ _id: 'b', name: 'b' });
      const all = things.live({});
      all.subscribe(() => undefined);
      await all.ready;
      return { things, all };
    };

    test('blocks no calls with patterns', async () => {
      const { things, all } = await ending();
      const calls = [
        things.insert({ name: 'a' }),
        things.deleteMany({ name: /b/ }),
        things.count({ name: /a/ }),
      ];
      all.close();
      expect(await Promise.all(calls)).toMatchObject([{ name: 'a' }, 1, 1]);
      expect(await things.count()).toBe(1);
    });

    test('blocks no exclusive call', async () => {
      const { things, all } = await ending(schemaOf((value) => ({ value })));
      const calls = [things.insert({ name: 'a' }), things.patch('b', { name: 'c' })];
      all.close();
      expect(await Promise.all(calls)).toMatchObject([{ name: 'a' }, { name: 'c' }]);
      expect(await things.count()).toBe(2);
    });
  });
}
