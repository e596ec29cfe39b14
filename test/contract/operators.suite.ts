import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { own, rejection } from './outcomes.ts';

/**
 * patch with update operators, end to end. What each operator does is tested in test/engine/update.
 */
export function operatorsSuite(fixture: ClientFixture): void {
  describe('patch with operators', () => {
    const order = {
      _id: 'a',
      n: 1,
      price: 2,
      high: 5,
      low: 5,
      old: 'x',
      gone: 1,
      tags: ['a', 'b', 'a'],
      list: [3, 1, 2],
      deep: { n: 1 },
    };

    test('applies every operator, and what it made survives a reload', async () => {
      const things = fixture.documents();
      await things.insert(order);
      const patched = await things.patch('a', {
        $set: { 'deep.city': 'Oslo' },
        $unset: { gone: '' },
        $inc: { n: 4, 'deep.n': -1 },
        $mul: { price: 3 },
        $min: { low: 2 },
        $max: { high: 9 },
        $rename: { old: 'fresh' },
        $push: { list: { $each: [9, 0], $sort: 1, $slice: -4 } },
        $pull: { tags: 'a' },
        $addToSet: { seen: 'me' },
      });
      expect(patched).toEqual({
        _id: 'a',
        _updated: true,
        _archived: false,
        n: 5,
        price: 6,
        high: 9,
        low: 2,
        fresh: 'x',
        tags: ['b'],
        list: [1, 2, 3, 9],
        deep: { n: 0, city: 'Oslo' },
        seen: ['me'],
      });
      expect(await things.get('a')).toEqual(patched);
      await fixture.reopen();
      const again = fixture.documents();
      expect(await again.get('a')).toEqual(patched);
      await again.patch('a', { $pullAll: { list: [1, 9] }, $pop: { seen: 1 } });
      expect(await again.get('a')).toMatchObject({ list: [2, 3], seen: [] });
    });

    test('keeps Date, bigint, Map, Set and binary values, as operands and beside them', async () => {
      const things = fixture.documents();
      const beside = { map: new Map([[1, { a: 1n }]]), bytes: new Uint8Array([1, 2]) };
      await things.insert({ _id: 'a', ...beside, n: 2n ** 70n, at: new Date(5), days: [] });
      await things.patch('a', {
        $inc: { n: 1n },
        $max: { at: new Date(9) },
        $push: { days: { $each: [new Date(2), new Date(1)], $sort: 1 } },
        $addToSet: { sets: new Set(['x']) },
        $set: { none: undefined, not: Number.NaN },
      });
      await things.patch('a', {
        $addToSet: { sets: new Set(['x']) },
        $pull: { days: new Date(2) },
      });
      const stored = {
        ...beside,
        n: 2n ** 70n + 1n,
        at: new Date(9),
        days: [new Date(1)],
        none: undefined,
        not: Number.NaN,
        sets: [new Set(['x'])],
      };
      expect(await things.get('a')).toMatchObject(stored);
      await fixture.reopen();
      expect(await fixture.documents().get('a')).toMatchObject(stored);
    });

    test('sets _updated and the stamp, and $currentDate is of the same instant', async () => {
      const stamps = { indicate_created_timestamp: true, indicate_updated_timestamp: true };
      const things = fixture.documents<
        { n: number; at?: Date; ms?: number },
        '_created_timestamp' | '_updated_timestamp'
      >(stamps);
      const before = await things.insert({ _id: 'a', n: 1 });
      expect(before).toMatchObject({ _updated: false });
      const patched = await things.patch('a', {
        $currentDate: { at: true, ms: { $type: 'timestamp' } },
      });
      const { _created_timestamp, _updated_timestamp, at, ms } = patched as Required<
        NonNullable<typeof patched>
      >;
      expect(patched?._updated).toBe(true);
      expect(_created_timestamp).toBe(before._created_timestamp);
      expect([Number(at), ms]).toEqual([_updated_timestamp, _updated_timestamp]);
      expect(Math.abs(_updated_timestamp - Date.now()) < 60_000).toBe(true);
    });

    test('an unknown id resolves with undefined', async () => {
      const things = fixture.documents<{ n: number }>();
      expect(await things.patch('nobody', { $inc: { n: 1 } })).toBe(undefined);
      expect(await things.count()).toBe(0);
    });

    test('an error names its code and place, and nothing is stored', async () => {
      const things = fixture.documents();
      const before = await things.insert(order);
      const { CriteriaError, KeyError, ValueError } = fixture.lib;
      for (const [changes, type, code, place] of [
        [{ $ince: { n: 1 } }, ValueError, 'update_invalid', 'changes.$ince'],
        [{ $inc: { n: '1' } }, ValueError, 'update_invalid', 'changes.$inc.n'],
        [{ $set: { n: 9 }, n: 9 }, ValueError, 'update_invalid', 'changes.n'],
        [{ n: 9, $set: { n: 9 } }, ValueError, 'update_invalid', 'changes.$set'],
        [{ $inc: { _id: 1 } }, ValueError, 'update_invalid', 'changes.$inc._id'],
        [{ $set: { 'list.$': 1 } }, ValueError, 'update_invalid', 'changes.$set.list.$'],
        [{ $set: { 'list.$[x]': 1 } }, ValueError, 'update_invalid', 'list.$[x]'],
        [
          { $set: { n: 9 }, $push: { list: { $each: [1], $slice: 'x' } } },
          ValueError,
          'update_invalid',
          'changes.$push.list.$slice',
        ],
        [{ $set: { f: () => 1 } }, ValueError, 'value_unsupported', 'changes.$set.f'],
        [{ $set: { 'deep.n': 9 }, $inc: { deep: 1 } }, KeyError, 'paths_conflict', 'deep.n'],
        [{ $set: { n: 9, 'a..b': 1 } }, KeyError, 'key_invalid', undefined],
        // What is wrong only with the stored document, after changes that are not.
        [{ $set: { aa: 9 }, $inc: { old: 1 } }, KeyError, 'kind_mismatch', 'old'],
        [{ $set: { aa: 9 }, $push: { n: 1 } }, KeyError, 'kind_mismatch', 'n'],
        [{ $set: { aa: 9, 'old.x': 1 } }, KeyError, 'kind_mismatch', 'old.x'],
        [{ $set: { n: 9 }, $pull: { list: { $gtt: 1 } } }, CriteriaError, undefined, undefined],
      ] as const) {
        const error = await rejection(things.patch('a', changes as never));
        expect(error instanceof type).toBe(true);
        if (code) expect(error).toMatchObject({ code });
        if (place) expect(error).toMatchObject({ place });
        expect(await things.get('a')).toEqual(before);
      }
      expect((await rejection(things.patch('a', { $ince: {} } as never))).message).toContain(
        '"$inc"?',
      );
      await fixture.reopen();
      expect(await fixture.documents().get('a')).toEqual(before);
    });

    test('names the collection in errors of $pull', async () => {
      const things = fixture.documents<{ list: number[] }>();
      await things.insert({ _id: 'a', list: [1] });
      const error = await rejection(things.patch('a', { $pull: { list: { $gtt: 1 } } } as never));
      expect(error.message).toContain(`Collection "${things.name}": `);
    });

    test('refuses a key of a unique index that another document has, and keeps its own', async () => {
      const indexes = [{ fields: 'n', unique: true }, 'tag'];
      const things = fixture.documents<{ n: number; tag: string }>({ indexes });
      const all = await things.insertMany([
        { _id: 'a', n: 1, tag: 'x' },
        { _id: 'b', n: 2, tag: 'x' },
      ]);
      const changes = { $inc: { n: 1 }, $set: { tag: 'y' } };
      const error = await rejection(things.patch('a', changes));
      expect(error).toMatchObject({ code: 'unique_violation', place: 'n' });
      expect(await things.filter({ tag: 'x' })).toEqual(all);
      expect(await things.count({ tag: 'y' })).toBe(0);
      expect(await things.patch('b', changes)).toMatchObject({ n: 3, tag: 'y' });
      expect(await things.patch('a', changes)).toMatchObject({ n: 2, tag: 'y' });
      expect(own(await things.filter({ n: { $gte: 2 } }, { sort: { n: 1 } }))).toEqual([
        { n: 2, tag: 'y' },
        { n: 3, tag: 'y' },
      ]);
    });

    test('keeps an archived document archived', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.insert({ _id: 'a', n: 1 });
      await things.archive('a');
      expect(await things.patch('a', { $inc: { n: 1 } })).toMatchObject({ _archived: true, n: 2 });
      expect(await things.count()).toBe(0);
    });

    test('reads its argument at once', async () => {
      const things = fixture.documents<{ n: number; list: number[] }>();
      await things.insert({ _id: 'a', n: 1, list: [] });
      const changes = { $inc: { n: 1 }, $push: { list: { $each: [1, 2] } } };
      const patching = things.patch('a', changes);
      changes.$inc.n = 100;
      changes.$push.list.$each.push(3);
      expect(await patching).toMatchObject({ n: 2, list: [1, 2] });
    });

    test('a name inside of an array is refused, and the error says how to change its items', async () => {
      const things = fixture.documents<{ tags: { name: string }[] }>();
      await things.insert({ _id: 'a', tags: [{ name: 'x' }] });
      for (const changes of [{ 'tags.name': 'y' }, { $set: { 'tags.name': 'y' } }]) {
        const error = await rejection(things.patch('a', changes as never));
        expect(error).toMatchObject({ code: 'key_invalid', place: 'tags.name' });
        expect(error.message).toContain('modify');
      }
    });

    test('from two handles at a time, none is lost', async () => {
      const things = fixture.documents<{ n: number; log: number[] }>();
      const other = fixture.documents<{ n: number; log: number[] }>();
      await things.insert({ _id: 'a', n: 0, log: [] });
      await Promise.all(
        Array.from({ length: 100 }, (_, at) => [
          things.patch('a', { $inc: { n: 1 }, $push: { log: at } }),
          other.patch('a', { $inc: { n: 1 }, $addToSet: { log: 100 + at } }),
        ]).flat(),
      );
      const { n, log } = (await things.get('a')) as { n: number; log: number[] };
      expect(n).toBe(200);
      expect(log.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, at) => at));
      await fixture.reopen();
      expect(await fixture.documents().get('a')).toMatchObject({ n: 200 });
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('works without promises', async () => {
      const things = fixture.documents<{ n: number }>();
      await things.ready;
      things.sync.insert({ _id: 'a', n: 1 });
      expect(things.sync.patch('a', { $inc: { n: 2 } })).toMatchObject({ n: 3, _updated: true });
      expect(things.sync.get('a')?.n).toBe(3);
    });

    test('reads a getter in the changes once', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ n: 1 });
      let reads = 0;
      const changes = {
        $inc: {
          get n() {
            return reads++ === 0 ? 2 : ('bad' as never);
          },
        },
      };
      expect(await things.patch(_id, changes)).toMatchObject({ n: 3 });
    });
  });
}
