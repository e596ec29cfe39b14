import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

/** getMany: documents by their ids. */
export function getManySuite(fixture: ClientFixture): void {
  describe('getMany', () => {
    const things = async () => {
      const made = fixture.documents<{ n: number }>();
      await made.insertMany([0, 1, 2, 3].map((n) => ({ _id: `t${n}`, n })));
      return made;
    };

    test('has the order of the ids, with undefined where there is none', async () => {
      const made = await things();
      const ids = ['t3', 'nobody', 't0', 't1'];
      const found = await made.getMany(ids);
      expect(found.map((one) => one?.n)).toEqual([3, undefined, 0, 1]);
      expect(found).toEqual(await Promise.all(ids.map((id) => made.get(id))));
      await fixture.reopen();
      expect(await fixture.documents().getMany(ids)).toEqual(found);
    });

    test('finds archived documents, and no deleted ones', async () => {
      const made = await things();
      await made.archive('t1');
      await made.delete('t2');
      const found = await made.getMany(['t1', 't2']);
      expect(found).toMatchObject([{ _id: 't1', _archived: true }, undefined]);
      expect(found.length).toBe(2);
    });

    test('gives each place a copy of its own', async () => {
      const made = fixture.documents<{ list: unknown[] }>();
      await made.insert({ _id: 'a', list: [1, new Date(5)] });
      const [one, other] = await made.getMany(['a', 'a']);
      one?.list.push('mine');
      expect(other?.list).toEqual([1, new Date(5)]);
      expect((await made.getMany(['a']))[0]?.list).toEqual([1, new Date(5)]);
    });

    test('of no ids is an empty list', async () => {
      const made = await things();
      expect(await made.getMany([])).toEqual([]);
    });

    test('of thousands finds all of them', async () => {
      const made = fixture.documents<{ n: number }>();
      const ids = Array.from({ length: 3000 }, (_, n) => `t${n}`);
      await made.insertMany(ids.map((_id, n) => ({ _id, n })));
      ids.reverse();
      expect((await made.getMany(ids)).map((one) => one?._id)).toEqual(ids);
    });

    test('shows one instant: a later change is not in it, an earlier one is', async () => {
      const made = await things();
      const [, found, changed] = await Promise.all([
        made.patchMany({}, { $inc: { n: 10 } }),
        made.getMany(['t0', 't1', 't2', 't3']),
        made.patchMany({}, { $inc: { n: 100 } }),
        made.delete('t0'),
      ]);
      expect(found.map((one) => one?.n)).toEqual([10, 11, 12, 13]);
      expect(changed).toBe(4);
    });

    test('refuses what is no list of ids, and names the place', async () => {
      const made = await things();
      for (const ids of [undefined, null, 't0', 5, { 0: 't0', length: 1 }, new Set(['t0'])]) {
        expect(await rejection(made.getMany(ids as never))).toMatchObject({
          code: 'id_invalid',
          place: 'ids',
        });
      }
      for (const id of ['', 5, null, undefined, {}]) {
        const error = await rejection(made.getMany(['t0', id as never]));
        expect(error instanceof fixture.lib.ValueError).toBe(true);
        expect(error).toMatchObject({ code: 'id_invalid', place: 'ids[1]' });
      }
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread') return;

    test('works without promises', async () => {
      const made = await things();
      await made.ready;
      expect(made.sync.getMany(['t1', 'nobody', 't0']).map((one) => one?.n)).toEqual([
        1,
        undefined,
        0,
      ]);
    });
  });
}
