import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

interface Friend {
  name: string;
  age: number;
}

const ADA = { name: 'Ada', age: 36 };
const BOB = { name: 'Bob', age: 20 };
const CYD = { name: 'Cyd', age: 52 };

/** push, remove, find, filter and has: the items of an array at a key. */
export function keyValueItemsSuite(fixture: ClientFixture): void {
  describe('items', () => {
    const friends = async () => {
      const values = fixture.keyValues();
      await values.set('user', { friends: [ADA, BOB, CYD], tags: ['a', 'b', 'a', null] });
      await values.save();
      return values;
    };

    test('push creates the array and returns it', async () => {
      const values = fixture.keyValues();
      expect(await values.push('user.tags', 'a')).toEqual(['a']);
      expect(await values.push('user.tags', { b: 1 })).toEqual(['a', { b: 1 }]);
      expect(await values.push('list', undefined)).toEqual([undefined]);
      expect(await values.push('list[1]', 'inside')).toEqual(['inside']);
      await fixture.reopen();
      expect(await fixture.keyValues().entries()).toEqual([
        ['user', { tags: ['a', { b: 1 }] }],
        ['list', [undefined, ['inside']]],
      ]);
    });

    test('find returns the first matching item', async () => {
      const values = await friends();
      const key = 'user.friends';
      expect(await values.find<Friend>(key, ({ age }) => age > 30)).toEqual(ADA);
      expect(await values.find<Friend>(key, { age: { $gt: 40 } })).toEqual(CYD);
      expect(await values.find<Friend>(key, { name: 'Bob' })).toEqual(BOB);
      expect(await values.find<Friend>(key, () => false)).toBe(undefined);
      expect(await values.find<Friend>(key, { name: 'Nobody' })).toBe(undefined);
      expect(await values.find('user.tags', 'b')).toBe('b');
      expect(await values.find('user.tags', /^b/)).toBe('b');
    });

    test('filter returns all matching items, in order', async () => {
      const values = await friends();
      const key = 'user.friends';
      expect(await values.filter<Friend>(key, ({ age }) => age > 30)).toEqual([ADA, CYD]);
      expect(await values.filter<Friend>(key, { age: { $lt: 40 } })).toEqual([ADA, BOB]);
      expect(await values.filter<Friend>(key, { $or: [{ name: 'Cyd' }, { age: 20 }] })).toEqual([
        BOB,
        CYD,
      ]);
      expect(await values.filter<Friend>(key, {})).toEqual([ADA, BOB, CYD]);
      expect(await values.filter('user.tags', 'a')).toEqual(['a', 'a']);
      expect(await values.filter('user.tags', { $in: ['b', 'c'] })).toEqual(['b']);
      expect(await values.filter('user.tags', { $gt: 'a' })).toEqual(['b']);
    });

    test('has with params returns whether an item matches', async () => {
      const values = await friends();
      const key = 'user.friends';
      expect(await values.has<Friend>(key, ({ age }) => age > 50)).toBe(true);
      expect(await values.has<Friend>(key, ({ age }) => age > 60)).toBe(false);
      expect(await values.has<Friend>(key, { name: 'Ada', age: { $lt: 40 } })).toBe(true);
      expect(await values.has<Friend>(key, { name: 'Ada', age: { $gt: 40 } })).toBe(false);
      expect(await values.has('user.tags', 'a')).toBe(true);
      expect(await values.has('user.tags', 'c')).toBe(false);
      expect(await values.has('user.tags', null)).toBe(true);
    });

    test('remove deletes matching items and returns the remaining array', async () => {
      const values = await friends();
      expect(await values.remove('user.tags', 'a')).toEqual(['b', null]);
      expect(await values.remove<Friend>('user.friends', { age: { $gt: 40 } })).toEqual([ADA, BOB]);
      expect(await values.remove<Friend>('user.friends', (friend) => friend.age > 30)).toEqual([
        BOB,
      ]);
      expect(await values.remove<Friend>('user.friends', (friend) => friend.age > 30)).toEqual([
        BOB,
      ]);
      expect(await values.remove('user.tags', 'nothing')).toEqual(['b', null]);
      await fixture.reopen();
      expect(await fixture.keyValues().get('user')).toEqual({ friends: [BOB], tags: ['b', null] });
    });

    test('criteria may compare with values of any kind', async () => {
      const values = fixture.keyValues();
      await values.set('list', [new Date(5), 2n, [1], 'a', undefined]);
      expect(await values.has('list', new Date(5))).toBe(true);
      expect(await values.has('list', new Date(6))).toBe(false);
      expect(await values.has('list', [1])).toBe(true);
      expect(await values.remove('list', new Date(5))).toEqual([2n, [1], 'a', undefined]);
      expect(await values.remove('list', [1])).toEqual([2n, 'a', undefined]);
      expect(await values.remove('list', 2n)).toEqual(['a', undefined]);
    });

    test('null and undefined are items of their own; {} matches objects and arrays alone', async () => {
      const values = fixture.keyValues();
      const list = ['a', 0, null, undefined, {}, [1], null];
      await values.set('list', list);
      expect(await values.filter('list', null)).toEqual([null, null]);
      expect(await values.filter('list', undefined)).toEqual([undefined]);
      expect(await values.find('list', null)).toBe(null);
      expect(await values.filter('list', {})).toEqual([{}, [1]]);
      expect(await values.remove('list', undefined)).toEqual(['a', 0, null, {}, [1], null]);
      expect(await values.remove('list', undefined)).toEqual(['a', 0, null, {}, [1], null]);
      expect(await values.has('list', null)).toBe(true);
      expect(await values.remove('list', {})).toEqual(['a', 0, null, null]);
      expect(await values.remove('list', null)).toEqual(['a', 0]);
      expect(await values.remove('list', {})).toEqual(['a', 0]);
      await values.set('list', [undefined]);
      expect(await values.has('list', null)).toBe(false);
      expect(await values.remove('list', null)).toEqual([undefined]);
    });

    test('a missing key has no items', async () => {
      const values = fixture.keyValues();
      expect(await values.find('no.such', {})).toBe(undefined);
      expect(await values.find('no.such', () => true)).toBe(undefined);
      expect(await values.filter('no.such', {})).toEqual([]);
      expect(await values.filter('no.such', () => true)).toEqual([]);
      expect(await values.has('no.such', 1)).toBe(false);
      expect(await values.has('no.such', () => true)).toBe(false);
      expect(await values.remove('no.such', 1)).toEqual([]);
      expect(await values.remove('no.such', () => true)).toEqual([]);
      expect(await values.count()).toBe(0);
    });

    test('functions run in the caller, with their closures, and cannot change stored values', async () => {
      const values = await friends();
      const seen: string[] = [];
      const wanted = 'Bob';
      const found = await values.find<Friend>('user.friends', (friend) => {
        seen.push(friend.name);
        friend.age = 0;
        return friend.name === wanted;
      });
      expect(found?.name).toBe('Bob');
      expect(seen).toEqual(['Ada', 'Bob']);
      expect(await values.get('user.friends')).toEqual([ADA, BOB, CYD]);
      const failure = new RangeError('mine');
      const fail = () => {
        throw failure;
      };
      expect(await rejection(values.find('user.friends', fail))).toBe(failure);
      expect(await rejection(values.remove('user.friends', fail))).toBe(failure);
      for (const method of ['find', 'filter', 'has', 'remove'] as const) {
        await expect(values[method]('user.friends', async () => false)).rejects.toMatchObject({
          code: 'predicate_async',
        });
      }
      expect(await values.get('user.friends')).toEqual([ADA, BOB, CYD]);
    });

    test('invalid criteria are refused and change nothing', async () => {
      const values = await friends();
      for (const method of ['find', 'filter', 'has', 'remove'] as const) {
        const error = await rejection(values[method]('user.friends', { age: { $gtt: 1 } }));
        expect(error instanceof fixture.lib.CriteriaError).toBe(true);
        expect(error.code).toBe('operator_unknown');
      }
      expect(await values.get('user.friends')).toEqual([ADA, BOB, CYD]);
    });
  });
}
