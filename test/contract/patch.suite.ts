import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

/** patch: single fields, by name or by dotted path. */
export function patchSuite(fixture: ClientFixture): void {
  describe('patch', () => {
    test('sets single fields and keeps the others', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ a: 1, b: { c: 2, d: 3 } });
      const patched = await things.patch(_id, { a: 9, e: 'new' });
      expect(patched).toEqual({
        _id,
        _updated: true,
        _archived: false,
        a: 9,
        b: { c: 2, d: 3 },
        e: 'new',
      });
      expect(Object.keys(patched as object).slice(3)).toEqual(['a', 'b', 'e']);
      await fixture.reopen();
      expect(await fixture.documents().get(_id)).toEqual(patched);
    });

    test('is shallow: an object replaces an object', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ b: { c: 2, d: 3 } });
      const patched = await things.patch(_id, { b: { c: 4 } });
      expect(patched?.b).toEqual({ c: 4 });
      expect(Object.keys(Object(patched?.b))).toEqual(['c']);
    });

    test('reaches deeper by a dotted path and makes what is missing', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ a: { b: { c: 1, d: 2 } }, list: [{ n: 1 }, { n: 2 }] });
      const patched = await things.patch(_id, { 'a.b.c': 9, 'x.y': true, 'list.1.n': 7 });
      expect(patched).toMatchObject({
        a: { b: { c: 9, d: 2 } },
        x: { y: true },
        list: [{ n: 1 }, { n: 7 }],
      });
    });

    test('stores undefined', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ a: 1, b: 2 });
      const patched = await things.patch(_id, { a: undefined });
      expect(Object.keys(patched as object).includes('a')).toBe(true);
      expect(patched?.a).toBe(undefined);
      await fixture.reopen();
      const again = (await fixture.documents().get(_id)) as object;
      expect(Object.keys(again).slice(3)).toEqual(['a', 'b']);
    });

    test('keeps values that JSON has no word for', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ at: new Date(5), tags: new Set(['a']), n: 1 });
      await things.patch(_id, { n: 2n, 'deep.at': new Date(7) });
      expect(await things.get(_id)).toMatchObject({
        at: new Date(5),
        tags: new Set(['a']),
        n: 2n,
        deep: { at: new Date(7) },
      });
    });

    test('fills an array with null up to an index past its end', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ list: ['a'], deep: { rows: [] } });
      const patched = await things.patch(_id, { 'list.3': 'd', 'deep.rows.1.n': 5 });
      expect(patched).toMatchObject({
        list: ['a', null, null, 'd'],
        deep: { rows: [null, { n: 5 }] },
      });
      expect(Object.keys(patched?.list as object)).toEqual(['0', '1', '2', '3']);
      await fixture.reopen();
      const stored = await fixture.documents().get(_id);
      expect(Object.keys(stored?.list as object)).toEqual(['0', '1', '2', '3']);
      expect(await fixture.documents().count({ list: null })).toBe(1);
    });

    test('refuses a path inside another path, and changes nothing', async () => {
      const things = fixture.documents();
      const before = await things.insert({ a: { b: { c: 1 } }, ab: 1 });
      for (const [outer, inner] of [
        ['a', 'a.b'],
        ['a.b', 'a.b.c'],
        ['a', 'a.b.c'],
        ['new', 'new.0'],
      ] as const) {
        for (const paths of [
          [outer, inner],
          [inner, outer],
        ]) {
          const changes = Object.fromEntries(['ok', ...paths].map((path) => [path, 2]));
          const error = await rejection(things.patch(before._id, changes));
          expect(error instanceof fixture.lib.KeyError).toBe(true);
          expect(error).toMatchObject({ code: 'paths_conflict', place: inner });
          expect(error.message.includes(`"${outer}"`)).toBe(true);
          expect(error.message.includes(`"${inner}"`)).toBe(true);
        }
      }
      expect(await things.get(before._id)).toEqual(before);
      expect(await things.patch(before._id, { 'a.b.d': 2, ab: 3, 'a.bc': 4 })).toMatchObject({
        a: { b: { c: 1, d: 2 }, bc: 4 },
        ab: 3,
      });
    });

    test('ignores managed fields', async () => {
      const things = fixture.documents();
      const { _id } = await things.insert({ a: 1 });
      const patched = await things.patch(_id, {
        _id: 'other',
        _archived: true,
        _created_at: new Date(0),
        a: 2,
      });
      expect(patched).toEqual({ _id, _updated: true, _archived: false, a: 2 });
      expect(await things.get('other')).toBe(undefined);
    });

    test('an unknown id resolves with undefined', async () => {
      expect(await fixture.documents().patch('nobody', { a: 1 })).toBe(undefined);
    });

    test('a path through something that is no object changes nothing', async () => {
      const things = fixture.documents();
      const before = await things.insert({ name: 'a', at: new Date(1), none: null });
      for (const path of ['name.first', 'at.year', 'none.at.all']) {
        await expect(things.patch(before._id, { ok: 1, [path]: 1 })).rejects.toMatchObject({
          code: 'kind_mismatch',
          place: path,
        });
      }
      expect(await things.get(before._id)).toEqual(before);
    });

    test('a bad value or path is refused with its place, and changes nothing', async () => {
      const things = fixture.documents();
      const before = await things.insert({ a: 1 });
      const id = before._id;
      await expect(things.patch(id, { b: 1, 'a.f': () => 1 })).rejects.toMatchObject({
        code: 'value_unsupported',
        place: 'changes.a.f',
      });
      for (const path of ['', 'a.', '.a', 'a..b']) {
        await expect(things.patch(id, { [path]: 1 })).rejects.toMatchObject({
          code: 'key_invalid',
        });
      }
      for (const changes of [null, 1, 'a', [1], new Date(0), () => 1]) {
        await expect(things.patch(id, changes as never)).rejects.toMatchObject({
          code: 'document_invalid',
          place: 'changes',
        });
      }
      expect(await things.get(id)).toEqual(before);
    });
  });
}
