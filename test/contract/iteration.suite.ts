import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { allOf, idsOf, rejection } from './outcomes.ts';

/** `for await` over a collection, and `each`. */
export function iterationSuite(fixture: ClientFixture): void {
  describe('iteration', () => {
    const numbers = async (count: number, indexes?: string[]) => {
      const things = fixture.documents<{ n: number; pad: string }>({ indexes });
      const pad = 'x'.repeat(400);
      await things.insertMany(Array.from({ length: count }, (_, n) => ({ _id: `${n}`, n, pad })));
      await things.save();
      return things;
    };

    test('skips archived documents and follows the order of insertion', async () => {
      const things = await numbers(6000);
      await things.archive('3');
      const seen: number[] = [];
      for await (const { n } of things) seen.push(n);
      expect(seen).toEqual(Array.from({ length: 6000 }, (_, n) => n).filter((n) => n !== 3));
      for await (const _ of fixture.documents({ name: 'empty' }))
        throw new Error('Nothing is there.');
    });

    test('keeps the order after updates, and after a reload', async () => {
      let things = await numbers(1500);
      for (let n = 1499; n >= 0; n -= 7) await things.patch(`${n}`, { pad: 'y'.repeat(n) });
      const expected = Array.from({ length: 1500 }, (_, n) => `${n}`);
      expect(idsOf(await allOf(things))).toEqual(expected);
      await things.save();
      expect(idsOf(await allOf(things))).toEqual(expected);
      await fixture.reopen();
      things = fixture.documents();
      expect(idsOf(await allOf(things))).toEqual(expected);
      expect(idsOf(await allOf(things.each(() => true)))).toEqual(expected);
    });

    test('takes criteria, functions and all options of filter', async () => {
      const things = await numbers(700, ['n']);
      await things.archive('650');
      for (const params of [{ n: { $gte: 600 } }, ({ n }: { n: number }) => n >= 600]) {
        for (const options of [
          {},
          { archived: true },
          { archived: 'only' },
          { sort: { n: -1 } },
          { sort: { n: -1 }, skip: 5, limit: 7 },
          { limit: 3, select: ['n'] },
          { where: ({ n }: { n: number }) => n % 2 === 0 },
          { limit: 0 },
        ] as const) {
          const found = await allOf(things.each(params, options as object));
          expect(found).toEqual(await things.filter(params, options as object));
          if (!('limit' in options && options.limit === 0)) expect(found.length).toBeGreaterThan(0);
        }
      }
    });

    test('can be left early; the collection stays usable', async () => {
      const things = await numbers(6000);
      for (const options of [{}, { sort: { n: 1 } }] as const) {
        for (const last of [0, 10, 4500]) {
          const seen: number[] = [];
          for await (const { n } of things.each({}, options)) {
            seen.push(n);
            if (n === last) break;
          }
          expect(seen.length).toBe(last + 1);
        }
      }
      const failure = new Error('mine');
      const broken = (async () => {
        for await (const { n } of things) if (n === 5) throw failure;
      })();
      expect(await rejection(broken)).toBe(failure);
      const unused = things.each();
      expect(await unused.return()).toEqual({ done: true, value: undefined });
      expect(await things.count()).toBe(6000);
    });

    test('reads a snapshot: its loop may change the collection, later inserts are not visited', async () => {
      const things = await numbers(300);
      let seen = 0;
      for await (const { _id, n } of things) {
        seen++;
        await things.patch(_id, { n: n + 1000 });
        await things.insert({ n: -1, pad: '' });
      }
      expect(seen).toBe(300);
      expect(await things.count()).toBe(600);
      expect(await things.count({ n: { $gte: 1000 } })).toBe(300);
    });

    test('concurrent iterations are independent', async () => {
      const things = await numbers(5000);
      const [one, other] = [things.each({}), things.each({}, { sort: { n: -1 } })];
      const seen: unknown[] = [];
      const expected: unknown[] = [];
      for (let n = 0; n < 5000; n++) {
        seen.push((await one.next()).value?.n, (await other.next()).value?.n);
        expected.push(n, 4999 - n);
      }
      expect(seen).toEqual(expected);
      expect((await one.next()).done).toBe(true);
      expect((await other.next()).done).toBe(true);
    });

    test('rejects with the same typed errors as filter', async () => {
      const things = await numbers(1);
      const wrong = things.each({ n: { $gtt: 1 } } as never).next();
      expect(await rejection(wrong)).toMatchObject({ code: 'operator_unknown' });
      const negative = things.each({}, { limit: -1 }).next();
      expect(await rejection(negative)).toMatchObject({ code: 'option_invalid', place: 'limit' });
    });
  });
}
