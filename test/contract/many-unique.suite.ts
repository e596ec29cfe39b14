import { describe, expect, test } from 'vitest';
import type { IndexOption } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

interface Seat {
  seat: number;
  row: string;
  tags?: string[];
}

const INDEXES: IndexOption[] = [
  { fields: 'seat', unique: true },
  { fields: 'tags', unique: true, multi: true },
  'row',
];

/** Unique indexes under patchMany and upsertMany, which change many documents at once. */
export function manyUniqueSuite(fixture: ClientFixture): void {
  describe('unique indexes and many changes at once', () => {
    const seats = async () => {
      const made = fixture.documents<Seat>({ indexes: INDEXES });
      await made.insertMany([
        { _id: 'a', seat: 1, row: 'x', tags: ['t1'] },
        { _id: 'b', seat: 2, row: 'x', tags: ['t2'] },
        { _id: 'c', seat: 3, row: 'y' },
      ]);
      return made;
    };
    type Seats = Awaited<ReturnType<typeof seats>>;
    /** What the indexes find, of every key that ever was. */
    const byIndexes = async (made: Seats) => {
      const found: Record<string, string[]> = {};
      for (let seat = -3; seat < 9; seat++)
        found[seat] = (await made.filter({ seat })).map(({ _id }) => _id);
      for (const row of ['x', 'y', 'z'])
        found[row] = (await made.filter({ row })).map(({ _id }) => _id);
      for (const tag of ['t1', 't2', 't3'])
        found[tag] = (await made.filter({ tags: tag })).map(({ _id }) => _id);
      return found;
    };

    test('documents may pass their keys on to one another', async () => {
      const made = await seats();
      expect(await made.patchMany({}, { $inc: { seat: 1 } })).toBe(3);
      expect((await made.filter({})).map(({ seat }) => seat)).toEqual([2, 3, 4]);
      expect(await made.patchMany({}, { $mul: { seat: -1 } })).toBe(3);
      expect(await made.patchMany({}, { $inc: { seat: 6 } })).toBe(3);
      expect((await made.filter({})).map(({ seat }) => seat)).toEqual([4, 3, 2]);
      const after = await byIndexes(made);
      expect([after[2], after[3], after[4], after[1]]).toEqual([['c'], ['b'], ['a'], []]);
      expect((await rejection(made.insert({ seat: 4, row: 'z' }))).code).toBe('unique_violation');
      await made.insert({ _id: 'd', seat: 1, row: 'z' });
      await fixture.reopen();
      const again = fixture.documents<Seat>({ indexes: INDEXES });
      expect(await byIndexes(again)).toEqual({ ...after, 1: ['d'], z: ['d'] });
    });

    test('upsertMany exchanges keys as well, with new documents between', async () => {
      const made = await seats();
      await made.upsertMany([
        { _id: 'a', seat: 2, row: 'y', tags: ['t2'] },
        { _id: 'new', seat: 4, row: 'y' },
        { _id: 'b', seat: 1, row: 'y', tags: ['t1', 't3'] },
      ]);
      const after = await byIndexes(made);
      expect([after[1], after[2], after[4]]).toEqual([['b'], ['a'], ['new']]);
      expect([after.t1, after.t2, after.t3]).toEqual([['b'], ['a'], ['b']]);
      expect([after.x, after.y]).toEqual([[], ['a', 'b', 'c', 'new']]);
      await fixture.reopen();
      expect(await byIndexes(fixture.documents({ indexes: INDEXES }))).toEqual(after);
    });

    test('of two versions in one upsertMany only the later takes its key', async () => {
      const made = await seats();
      await made.upsertMany([
        { _id: 'a', seat: 3, row: 'x' },
        { _id: 'd', seat: 2, row: 'x' },
        { _id: 'a', seat: 7, row: 'x' },
        { _id: 'd', seat: 8, row: 'x' },
      ]);
      const after = await byIndexes(made);
      expect([after[1], after[2], after[3], after[7], after[8]]).toEqual([
        [],
        ['b'],
        ['c'],
        ['a'],
        ['d'],
      ]);
    });

    const violations: Record<string, readonly [string, (made: Seats) => Promise<unknown>]> = {
      'two documents get one key': ['seat', (made) => made.patchMany({}, { seat: 7 })],
      'a key belongs to a document that does not change': [
        'seat',
        (made) => made.patchMany({ row: 'x' }, { $inc: { seat: 1 } }),
      ],
      'an item is in two documents': [
        'tags',
        (made) => made.patchMany({}, { $inc: { seat: 5 }, $push: { tags: 't3' } }),
      ],
      'the documents are chosen by a function': [
        'seat',
        (made) => made.patchMany(({ seat }) => seat < 3, { $inc: { seat: 1 } }),
      ],
      'upsertMany replaces and inserts': [
        'seat',
        (made) =>
          made.upsertMany([
            { _id: 'a', seat: 2, row: 'z', tags: ['t2'] },
            { _id: 'b', seat: 5, row: 'z', tags: ['t3'] },
            { _id: 'new', seat: 3, row: 'z' },
          ]),
      ],
      'upsertMany inserts two of one key': [
        'tags',
        (made) =>
          made.upsertMany([
            { seat: 5, row: 'z', tags: ['t1', 't3'] },
            { _id: 'a', seat: 6, row: 'z', tags: ['t3'] },
          ]),
      ],
    };
    for (const [why, [index, change]] of Object.entries(violations)) {
      test(`a violation leaves documents and indexes as they were: ${why}`, async () => {
        const made = await seats();
        const before = await made.filter({});
        const found = await byIndexes(made);
        const error = await rejection(change(made));
        expect(error instanceof fixture.lib.ValueError).toBe(true);
        expect(error).toMatchObject({ code: 'unique_violation', place: index });
        expect(await made.filter({})).toEqual(before);
        expect(await byIndexes(made)).toEqual(found);
        // Every old key still refuses, and nothing of the new ones does.
        for (const seat of [1, 2, 3])
          expect((await rejection(made.insert({ seat, row: 'z' }))).code).toBe('unique_violation');
        await made.insertMany([5, 6, 7].map((seat) => ({ _id: `${seat}`, seat, row: 'z' })));
        await made.patch('5', { $push: { tags: 't3' } });
        await fixture.reopen();
        const again = fixture.documents<Seat>({ indexes: INDEXES });
        expect((await again.filter({})).slice(0, 3)).toEqual(before);
        expect(await byIndexes(again)).toEqual({
          ...found,
          ...{ 5: ['5'], 6: ['6'], 7: ['7'], z: ['5', '6', '7'], t3: ['5'] },
        });
      });
    }
  });
}
