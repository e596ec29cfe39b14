import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

/** Keys, and the methods for one value. */
export function keyValueSuite(fixture: ClientFixture): void {
  describe('keys and values', () => {
    test('set returns the value, get finds it, also after a reload', async () => {
      const values = fixture.keyValues();
      expect(await values.set('theme', { dark: true })).toEqual({ dark: true });
      expect(await values.get('theme')).toEqual({ dark: true });
      expect(await values.get('other')).toBe(undefined);
      await fixture.reopen();
      expect(await fixture.keyValues().get('theme')).toEqual({ dark: true });
    });

    test('set replaces', async () => {
      const values = fixture.keyValues();
      await values.set('a', { b: 1, c: 2 });
      await values.set('a', { b: 3 });
      expect(await values.get('a')).toEqual({ b: 3 });
      await values.set('a.b', [1, 2]);
      await values.set('a.b', 'text');
      expect(await values.entries()).toEqual([['a', { b: 'text' }]]);
    });

    test('a key is a path: the first segment is the record, the rest a path inside its value', async () => {
      const values = fixture.keyValues();
      await values.set('USER_1.friends[0].name', 'Ada');
      expect(await values.get('USER_1')).toEqual({ friends: [{ name: 'Ada' }] });
      expect(await values.get('USER_1.friends')).toEqual([{ name: 'Ada' }]);
      expect(await values.get('USER_1.friends[0]')).toEqual({ name: 'Ada' });
      expect(await values.get('USER_1.friends[0].name')).toBe('Ada');
      expect(await values.get('USER_1.friends[1].name')).toBe(undefined);
      expect(await values.get('USER_1.friends[0].name.length')).toBe(undefined);
      expect(await values.keys()).toEqual(['USER_1']);
    });

    test('\\. is a literal dot', async () => {
      const values = fixture.keyValues();
      await values.set('example\\.org.visits', 1);
      expect(await values.keys()).toEqual(['example.org']);
      expect(await values.get('example\\.org')).toEqual({ visits: 1 });
      await values.set('a.b\\.c', 2);
      expect(await values.get('a')).toEqual({ 'b.c': 2 });
    });

    test('a number is a key', async () => {
      const values = fixture.keyValues();
      await values.set(7, 'seven');
      expect(await values.get(7)).toBe('seven');
      expect(await values.get('7')).toBe('seven');
      expect(await values.has(8)).toBe(false);
      expect(await values.keys()).toEqual(['7']);
      expect(await values.delete(7)).toBe(true);
    });

    test('an array of segments is a key, with any characters in them', async () => {
      const values = fixture.keyValues();
      await values.set(['a.b', 'c[0]', 1, 'd'], 'x');
      expect(await values.keys()).toEqual(['a.b']);
      expect(await values.get(['a.b'])).toEqual({ 'c[0]': [null, { d: 'x' }] });
      expect(await values.get(['a.b', 'c[0]', 1, 'd'])).toBe('x');
      expect(await values.get('a\\.b.c\\[0\\][1].d')).toBe('x');
      const segments = ['deep', 'down'];
      const setting = values.set(segments, 1);
      segments.push('changed');
      await setting;
      expect(await values.get('deep.down')).toBe(1);
    });

    test('missing parents are created, gaps in arrays become null', async () => {
      const values = fixture.keyValues();
      await values.set('a.b.c', 1);
      await values.set('a.list[0][1]', 2);
      await values.set('a.undefined', undefined);
      await values.set('a.undefined.now', 3);
      expect(await values.get('a')).toEqual({
        b: { c: 1 },
        list: [[null, 2]],
        undefined: { now: 3 },
      });
    });

    test('has without params, or with undefined, returns whether the key exists', async () => {
      const values = fixture.keyValues();
      await values.set('a', 5);
      expect(await values.has('a', undefined)).toBe(true);
      expect(await values.has('b', undefined)).toBe(false);
    });

    test('has returns true for an existing key with the value undefined', async () => {
      const values = fixture.keyValues();
      await values.set('a', { b: undefined, list: [0] });
      await values.set('u', undefined);
      for (const key of ['a', 'a.b', 'a.list', 'a.list[0]', 'u']) {
        expect([key, await values.has(key)]).toEqual([key, true]);
      }
      for (const key of ['b', 'a.c', 'a.b.c', 'a.list[1]', 'a.list.length', 'a.toString', 'x.y']) {
        expect([key, await values.has(key)]).toEqual([key, false]);
      }
      expect(await values.get('a.toString')).toBe(undefined);
      expect(await values.get('a.list.length')).toBe(undefined);
    });

    test('delete returns whether it removed something', async () => {
      const values = fixture.keyValues();
      await values.set('a', { b: 1, c: 2, list: ['x', 'y', 'z'] });
      expect(await values.delete('a.b')).toBe(true);
      expect(await values.delete('a.b')).toBe(false);
      expect(await values.delete('a.no.such.thing')).toBe(false);
      expect(await values.delete('a.list[1]')).toBe(true);
      expect(await values.get('a')).toEqual({ c: 2, list: ['x', 'z'] });
      expect(await values.delete('a')).toBe(true);
      expect(await values.delete('a')).toBe(false);
      expect(await values.has('a')).toBe(false);
      await fixture.reopen();
      expect(await fixture.keyValues().count()).toBe(0);
    });

    test('keys, entries and count use the first segments, in order of insertion', async () => {
      const values = fixture.keyValues();
      expect([await values.keys(), await values.entries(), await values.count()]).toEqual([
        [],
        [],
        0,
      ]);
      for (const key of ['b', 'a', '10', '9']) await values.set(`${key}.n`, key);
      await values.set('b.more', 1);
      await values.save();
      await values.set('a.n', 'changed');
      const entries = [
        ['b', { n: 'b', more: 1 }],
        ['a', { n: 'changed' }],
        ['10', { n: '10' }],
        ['9', { n: '9' }],
      ];
      expect(await values.entries()).toEqual(entries);
      expect(await values.keys()).toEqual(['b', 'a', '10', '9']);
      await fixture.reopen();
      const again = fixture.keyValues();
      expect(await again.entries()).toEqual(entries);
      expect(await again.keys()).toEqual(['b', 'a', '10', '9']);
      expect(await again.count()).toBe(4);
    });

    test('increase and decrease return the new number; a missing one starts at 0', async () => {
      const values = fixture.keyValues();
      expect(await values.increase('n', 5)).toBe(5);
      expect(await values.decrease('n', 2)).toBe(3);
      expect(await values.decrease('deep.list[0]', 2.5)).toBe(-2.5);
      expect(await values.get('deep')).toEqual({ list: [-2.5] });
      await fixture.reopen();
      expect(await fixture.keyValues().increase('n', 0)).toBe(3);
    });

    test('a key may have any characters, and names of Object.prototype', async () => {
      const values = fixture.keyValues();
      for (const key of ['constructor', 'toString', 'hasOwnProperty', '😀/ä', ' ', '\u0000']) {
        expect(await values.get([key])).toBe(undefined);
        await values.set([key], key);
        expect(await values.get([key])).toBe(key);
      }
      expect(await values.count()).toBe(6);
      await fixture.reopen();
      expect(await fixture.keyValues().get('constructor')).toBe('constructor');
    });

    const BAD_KEYS: unknown[] = [
      '',
      '.a',
      'a.',
      'a..b',
      'a[',
      'a[x]',
      'a[-1]',
      'a[0]b',
      [],
      [''],
      ['a', ''],
      ['a', -1],
      ['a', 1.5],
      ['a', null],
      [['a']],
      Number.NaN,
      null,
      undefined,
      {},
      true,
      () => 1,
      '__proto__',
      '__proto__.polluted',
      'a.__proto__.polluted',
      ['a', '__proto__'],
    ];

    test('a malformed key is refused by every method', async () => {
      const values = fixture.keyValues();
      await values.set('a', { n: 1 });
      for (const key of BAD_KEYS as never[]) {
        for (const call of [
          () => values.set(key, 1),
          () => values.get(key),
          () => values.has(key),
          () => values.has(key, 1),
          () => values.delete(key),
          () => values.push(key, 1),
          () => values.remove(key, 1),
          () => values.remove(key, () => true),
          () => values.find(key, 1),
          () => values.filter(key, () => true),
          () => values.increase(key, 1),
          () => values.decrease(key, 1),
        ]) {
          const error = await rejection(call());
          expect(error instanceof fixture.lib.KeyError).toBe(true);
          expect(error.code).toBe('key_invalid');
        }
      }
      expect(await values.entries()).toEqual([['a', { n: 1 }]]);
      expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
    });

    test('a key with too many segments is refused', async () => {
      const values = fixture.keyValues();
      for (const key of [`a${'.b'.repeat(60_000)}`, Array.from({ length: 501 }, () => 'a')]) {
        await expect(values.set(key, 1)).rejects.toMatchObject({ code: 'key_invalid' });
      }
      const things = fixture.documents();
      await things.insert({ _id: 'a' });
      const changes = { [`a${'.b'.repeat(60_000)}`]: 1 };
      await expect(things.patch('a', changes)).rejects.toMatchObject({ code: 'key_invalid' });
      expect(await values.count()).toBe(0);
    });

    test('a path through a scalar is refused and changes nothing', async () => {
      const values = fixture.keyValues();
      const before = { text: 'a', n: 1, at: new Date(1), none: null, list: [1] };
      await values.set('a', before);
      for (const key of ['a.text.b', 'a.n.b', 'a.at.b', 'a.none.b', 'a.list.b', 'a.list[0].b']) {
        const error = await rejection(values.set(key, 1));
        expect(error instanceof fixture.lib.KeyError).toBe(true);
      }
      await expect(values.set('a.text.b', 1)).rejects.toMatchObject({ code: 'kind_mismatch' });
      expect(await values.get('a')).toEqual(before);
    });

    test('a value of the wrong kind is refused and does not change', async () => {
      const values = fixture.keyValues();
      await values.set('a', { text: 'a', list: [1], none: null });
      for (const call of [
        () => values.push('a.text', 1),
        () => values.push('a', 1),
        () => values.push('a.none', 1),
        () => values.remove('a.text', 1),
        () => values.remove('a.text', () => true),
        () => values.find('a', {}),
        () => values.filter('a.text', () => true),
        () => values.has('a.text', 'a'),
        () => values.has('a.text', () => true),
        () => values.increase('a.text', 1),
        () => values.decrease('a.list', 1),
        () => values.increase('a.none', 1),
      ]) {
        const error = await rejection(call());
        expect(error instanceof fixture.lib.KeyError).toBe(true);
        expect(error.code).toBe('kind_mismatch');
        expect(error.place?.startsWith('a')).toBe(true);
      }
      for (const amount of ['1', undefined, null, Number.NaN, 1n] as never[]) {
        const error = await rejection(values.increase('n', amount));
        expect(error instanceof fixture.lib.CairnError).toBe(true);
      }
      expect(await values.entries()).toEqual([['a', { text: 'a', list: [1], none: null }]]);
    });
  });
}
