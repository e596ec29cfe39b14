import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

/** The function form of `params`. */
export function predicatesSuite(fixture: ClientFixture): void {
  describe('predicates', () => {
    const numbers = async (count: number) => {
      const things = fixture.documents<{ n: number; changed?: boolean }>();
      await things.insertMany(Array.from({ length: count }, (_, n) => ({ n })));
      await things.save();
      return things;
    };

    test('run in the caller, with its closures', async () => {
      const things = await numbers(10);
      const limit = 7;
      const seen: number[] = [];
      const found = await things.filter(({ n }) => {
        seen.push(n);
        return n > limit;
      });
      expect(found.map(({ n }) => n)).toEqual([8, 9]);
      expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await things.find((document) => document.n > limit)).toEqual(found[0]);
      expect(await things.has(({ n }) => n > limit)).toBe(true);
      expect(await things.has(({ n }) => n > 9)).toBe(false);
      expect(await things.count(({ n }) => n > limit)).toBe(2);
    });

    test('get whole documents, managed fields included', async () => {
      const things = fixture.documents<{ at: Date }>({ indicate_created_at: true });
      const stored = await things.insert({ at: new Date(5) });
      let seen: unknown;
      await things.find((document) => {
        seen = document;
        return false;
      });
      expect(seen).toEqual(stored);
    });

    test('match by any truthy result', async () => {
      const things = await numbers(4);
      expect((await things.filter(({ n }) => n % 2)).map(({ n }) => n)).toEqual([1, 3]);
      expect(await things.count(() => '')).toBe(0);
      expect(await things.count(() => undefined)).toBe(0);
      expect(await things.count(() => 'yes')).toBe(4);
    });

    test('see each of many documents once', async () => {
      const things = await numbers(3000);
      let calls = 0;
      const found = await things.filter(() => {
        calls++;
        return true;
      });
      expect(found.map(({ n }) => n)).toEqual(Array.from({ length: 3000 }, (_, n) => n));
      expect(calls).toBe(3000);
    });

    test('of find and has stop at the first match', async () => {
      const things = await numbers(3000);
      let calls = 0;
      const tenth = ({ n }: { n: number }) => {
        calls++;
        return n >= 9;
      };
      expect(await things.find(tenth)).toMatchObject({ n: 9 });
      expect(calls).toBe(10);
      calls = 0;
      expect(await things.has(tenth)).toBe(true);
      expect(calls).toBe(10);
    });

    test('find the first in order of insertion, also after changes', async () => {
      const things = await numbers(600);
      const all = await things.filter({});
      for (const { _id } of all.slice(0, 20)) await things.patch(_id, { changed: true });
      expect(await things.find(() => true)).toMatchObject({ n: 0 });
      await things.save();
      expect(await things.find(() => true)).toMatchObject({ n: 0 });
      const expected = Array.from({ length: 600 }, (_, n) => n);
      expect((await things.filter(() => true)).map(({ n }) => n)).toEqual(expected);
      await fixture.reopen();
      const again = fixture.documents<{ n: number }>();
      expect(await again.find(() => true)).toMatchObject({ n: 0 });
      expect((await again.filter(() => true)).map(({ n }) => n)).toEqual(expected);
    });

    test('cannot change stored documents', async () => {
      const things = fixture.documents<{ list: number[]; at: Date }>();
      const stored = await things.insert({ list: [1], at: new Date(5) });
      await things.filter((document) => {
        document.list.push(2);
        document.at.setTime(0);
        document._id = 'changed';
        return true;
      });
      expect(await things.filter({})).toEqual([stored]);
    });

    test('that throw reject with their error; the collection stays usable', async () => {
      const things = await numbers(3000);
      const failure = new RangeError('mine');
      const fail = ({ n }: { n: number }) => {
        if (n === 2000) throw failure;
        return false;
      };
      for (const method of ['find', 'filter', 'has', 'count', 'deleteMany'] as const) {
        expect(await rejection(things[method](fail))).toBe(failure);
      }
      expect(await things.count()).toBe(3000);
    });

    test('that return a promise are refused: a promise is truthy for every document', async () => {
      const things = await numbers(3);
      for (const method of ['find', 'filter', 'has', 'count', 'deleteMany'] as const) {
        await expect(things[method](async () => false)).rejects.toMatchObject({
          code: 'predicate_async',
        });
      }
      expect(await things.count()).toBe(3);
    });

    test('see a snapshot of the documents at the call', async () => {
      const things = await numbers(1000);
      const found = things.filter(() => true);
      void things.insert({ n: 1000 });
      const deleted = things.deleteMany({ n: 0 });
      expect((await found).length).toBe(1000);
      expect(await deleted).toBe(1);
      expect(await things.count()).toBe(1000);
    });

    test('may use the collection they filter', async () => {
      const things = await numbers(5);
      const inserted: Promise<unknown>[] = [];
      const found = await things.filter(({ n }) => {
        inserted.push(things.insert({ n: n + 100 }));
        return true;
      });
      await Promise.all(inserted);
      expect(found.length).toBe(5);
      expect(await things.count()).toBe(10);
    });
  });
}
