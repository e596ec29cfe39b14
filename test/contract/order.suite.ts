import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';

/** Long enough that `insertMany` travels in several messages. */
const LONG = 'x'.repeat(2000);

/** Calls take effect in call order, awaited or not; handles share the data. */
export function orderSuite(fixture: ClientFixture): void {
  describe('order', () => {
    test('a collection is usable at once; unawaited calls take effect in order', async () => {
      const things = fixture.documents<{ n: number }>();
      const answers = await Promise.all([
        things.get('a'),
        things.insert({ _id: 'a', n: 1 }),
        things.get('a'),
        things.update('a', { n: 2 }),
        things.find({ n: 2 }),
        things.archive('a'),
        things.count(),
        things.filter(() => true, { archived: true }),
        things.unarchive('a'),
        things.patch('a', { n: 3 }),
        things.has(({ n }) => n === 3),
        things.delete('a'),
        things.get('a'),
        things.upsert({ _id: 'a', n: 4 }),
        things.count(),
      ]);
      const shown = answers.map((answer) => {
        if (Array.isArray(answer)) return answer.map(({ n }) => n);
        return typeof answer === 'object' ? answer.n : answer;
      });
      expect(shown).toEqual([
        undefined,
        1,
        1,
        2,
        2,
        true,
        0,
        [2],
        true,
        3,
        true,
        true,
        undefined,
        4,
        1,
      ]);
    });

    test('calls take effect in order also if they read from storage', async () => {
      const before = fixture.documents<{ n: number }>();
      await before.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
      ]);
      await fixture.reopen();
      const things = fixture.documents<{ n: number }>();
      const answers = await Promise.all([
        things.patch('a', { n: 2 }),
        things.get('a'),
        things.archive('b'),
        things.filter({}),
        things.deleteMany({ n: 2 }),
        things.insert({ _id: 'a', n: 3 }),
        things.get('a'),
      ]);
      expect(answers[1]).toMatchObject({ n: 2 });
      expect(answers[3].map(({ _id }) => _id)).toEqual(['a']);
      expect(answers[4]).toBe(1);
      expect(answers[6]).toMatchObject({ n: 3, _updated: false });
    });

    test('calls wait for an earlier long insertMany', async () => {
      const things = fixture.documents<{ n: number; text: string }>();
      const many = Array.from({ length: 1500 }, (_, n) => ({ n, text: LONG }));
      const [stored, count, one, deleted, left] = await Promise.all([
        things.insertMany(many),
        things.count(),
        things.insert({ n: -1, text: '' }),
        things.deleteMany(({ n }) => n < 1499),
        things.filter({}),
      ]);
      expect(stored.length).toBe(1500);
      expect(count).toBe(1500);
      expect(one.n).toBe(-1);
      expect(deleted).toBe(1500);
      expect(left.map(({ n }) => n)).toEqual([1499]);
    });

    test('calls through two handles take effect in order', async () => {
      const one = fixture.documents<{ n: number; text: string }>();
      const other = fixture.documents<{ n: number; text: string }>();
      const many = Array.from({ length: 1500 }, (_, n) => ({ n, text: LONG }));
      const [, count, , left] = await Promise.all([
        one.insertMany(many),
        other.count(),
        other.deleteMany(({ n }) => n > 0),
        one.filter({}),
      ]);
      expect(count).toBe(1500);
      expect(left.map(({ n }) => n)).toEqual([0]);
    });

    test('a failed call does not block later ones', async () => {
      const things = fixture.documents<{ n: number }>();
      const first = things.insert({ _id: 'a', n: 1 });
      const second = things.insert({ _id: 'a', n: 2 });
      const third = things.insert({ _id: 'b', n: 3 });
      await expect(second).rejects.toMatchObject({ code: 'id_taken' });
      expect([await first, await third].map(({ n }) => n)).toEqual([1, 3]);
      expect(await things.count()).toBe(2);
    });

    test('a thousand concurrent inserts keep their order', async () => {
      const things = fixture.documents<{ n: number }>();
      await Promise.all(Array.from({ length: 1000 }, (_, n) => things.insert({ n })));
      await fixture.reopen();
      const again = fixture.documents<{ n: number }>();
      expect((await again.filter({})).map(({ n }) => n)).toEqual(
        Array.from({ length: 1000 }, (_, n) => n),
      );
    });

    test('concurrent increments all count', async () => {
      const values = fixture.keyValues();
      await Promise.all(Array.from({ length: 50 }, () => values.increase('visits.today', 1)));
      await Promise.all(Array.from({ length: 50 }, (_, n) => values.push('list', n)));
      expect(await values.get('visits.today')).toBe(50);
      expect(await values.get('list')).toEqual(Array.from({ length: 50 }, (_, n) => n));
    });

    test('remove by function is applied between its neighbours', async () => {
      const values = fixture.keyValues();
      const [, , removed, pushed] = await Promise.all([
        values.push('list', 1),
        values.push('list', 2),
        values.remove<number>('list', (n) => n === 1),
        values.push('list', 3),
      ]);
      expect(removed).toEqual([2]);
      expect(pushed).toEqual([2, 3]);
    });
  });

  describe('two handles to one collection', () => {
    test('see the same data', async () => {
      const one = fixture.documents<{ n: number }>();
      const other = fixture.documents<{ n: number }>();
      const { _id } = await one.insert({ n: 1 });
      expect(await other.get(_id)).toMatchObject({ n: 1 });
      await other.update(_id, { n: 2 });
      expect(await one.find({ n: 2 })).toMatchObject({ _id });
      await one.delete(_id);
      expect(await other.count()).toBe(0);
    });

    test('of key-values see the same data', async () => {
      const one = fixture.keyValues();
      const other = fixture.keyValues();
      await one.set('a.b', 1);
      expect(await other.increase('a.b', 1)).toBe(2);
      expect(await one.get('a')).toEqual({ b: 2 });
    });

    test('of different names see different data', async () => {
      const one = fixture.documents({ name: 'a' });
      const other = fixture.documents({ name: 'a/b' });
      await one.insert({ _id: 'x' });
      expect(await other.get('x')).toBe(undefined);
      expect(await other.insert({ _id: 'x' })).toMatchObject({ _id: 'x' });
    });
  });
}
