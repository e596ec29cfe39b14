import { describe, expect, test } from 'vitest';
import type { FindOptions, IndexOption } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { idsOf, own, rejection } from './outcomes.ts';

interface Player {
  team: string;
  points: number;
  name?: { last: string };
  scores?: number[];
}

const PLAYERS = [
  { _id: 'a', team: 'red', points: 3, name: { last: 'Zu' }, scores: [5, 1] },
  { _id: 'b', team: 'blue', points: 1, name: { last: 'Ad' } },
  { _id: 'c', team: 'red', points: 1, scores: [] },
  { _id: 'd', team: 'blue', points: 2, name: { last: 'Mi' }, scores: [3] },
  { _id: 'e', team: 'red', points: 3, name: { last: 'Ad' }, scores: [2, 9] },
  { _id: 'f', team: 'green', points: 2 },
];

const CASES: [FindOptions<Player>, string][] = [
  [{ sort: { points: 1 } }, 'bcdfae'],
  [{ sort: { points: -1 } }, 'aedfbc'],
  [{ sort: { team: 1, points: -1 } }, 'dbfaec'],
  [{ sort: { team: -1, points: -1 } }, 'aecfdb'],
  [{ sort: { team: -1, points: 1 } }, 'caefbd'],
  [{ sort: { points: 1, team: 1 } }, 'bcdfae'],
  [{ sort: { 'name.last': 1 } }, 'cfbeda'],
  [{ sort: { 'name.last': -1, points: 1 } }, 'adbecf'],
  // An array sorts by its least item, descending by its greatest; an empty one before null.
  [{ sort: { scores: 1 } }, 'cbfaed'],
  [{ sort: { scores: -1 } }, 'eadbfc'],
  [{ sort: { _id: -1 } }, 'fedcba'],
  [{ sort: { _updated: 1, _id: -1 } }, 'fedcba'],
];

const DECLARATIONS: (IndexOption[] | undefined)[] = [
  undefined,
  ['points', 'name.last', { fields: ['team', 'points'] }, { fields: 'scores', multi: true }],
];

/** sort, skip, limit, select and where, in all finding methods. */
export function sortingSuite(fixture: ClientFixture): void {
  for (const indexes of DECLARATIONS) {
    describe(`results in order, ${indexes ? 'with' : 'without'} indexes`, () => {
      const players = async () => {
        const things = fixture.documents<Player>({ indexes });
        await things.insertMany(PLAYERS);
        await things.save();
        return things;
      };

      test('sort by any path, ties in order of insertion', async () => {
        const things = await players();
        for (const [options, expected] of CASES) {
          const all = { ...options, archived: true } as const;
          const found = idsOf(await things.filter({}, all)).join('');
          expect([options, found]).toEqual([options, expected]);
          expect(idsOf(await things.filter(() => true, all)).join('')).toBe(expected);
          expect((await things.find({}, all))?._id).toBe(expected[0]);
        }
      });

      test('an empty sort means order of insertion', async () => {
        const things = await players();
        await things.update('a', { team: 'red', points: 0 });
        const sort = {} as const;
        expect(idsOf(await things.filter({}, { sort })).join('')).toBe('abcdef');
        expect(idsOf(await things.filter(() => true, { sort })).join('')).toBe('abcdef');
        expect(await things.count({ team: 'red' }, { sort })).toBe(3);
        const explained = await things.explain({ team: 'red' }, { sort });
        expect(explained.plan).toEqual((await things.explain({ team: 'red' })).plan);
        const first = await things.filter({}, { limit: 2 });
        const after = first.at(-1);
        expect(idsOf(await things.filter({}, { sort, after, limit: 2 })).join('')).toBe('cd');
      });

      test('fields of one array are taken from one item', async () => {
        const things = fixture.documents<{ a: ({ x: number; y: number } | number[])[] }>({
          name: 'arrays',
          indexes: indexes && ['a.x', { fields: ['a.x', 'a.y'] }, 'a.0'],
        });
        await things.insertMany([
          {
            _id: 'far',
            a: [
              { x: 0, y: 5 },
              { x: 1, y: 3 },
            ],
          },
          { _id: 'near', a: [{ x: 0, y: 4 }] },
          { _id: 'whole', a: [[19, 3]] },
          { _id: 'lesser', a: [[10, 15]] },
        ]);
        const found = async (sort: object) =>
          idsOf(await things.filter({}, { sort } as FindOptions<object>)).join();
        expect(await found({ 'a.x': 1, 'a.y': 1 })).toBe('whole,lesser,near,far');
        expect(await found({ 'a.x': -1, 'a.y': -1 })).toBe('far,near,whole,lesser');
        expect(await found({ 'a.0': 1 })).toBe('near,far,lesser,whole');
        expect(await found({ 'a.0': -1 })).toBe('whole,lesser,far,near');
      });

      test('skip and limit apply after the sort', async () => {
        const things = await players();
        for (const [options, expected] of CASES) {
          for (const [skip, limit] of [
            [0, 2],
            [2, 3],
            [5, 5],
            [6, 1],
            [9, 9],
            [3, undefined],
            [0, 0],
            [2, 0],
          ] as const) {
            const all = { ...options, skip, limit };
            const wanted = [...expected].slice(
              skip,
              limit === undefined ? undefined : skip + limit,
            );
            for (const params of [{}, () => true]) {
              const [found, count, has, first] = await Promise.all([
                things.filter(params, all),
                things.count(params, all),
                things.has(params, { skip, limit } as object),
                things.find(params, all),
              ]);
              expect({ all, found: idsOf(found), count, has, first: first?._id }).toEqual({
                all,
                found: wanted,
                count: wanted.length,
                has: wanted.length > 0,
                first: wanted[0],
              });
            }
          }
        }
      });

      test('without sort, skip and limit follow the order of insertion', async () => {
        const things = await players();
        await things.update('a', { team: 'blue', points: 9 });
        expect(idsOf(await things.filter({}, { skip: 1, limit: 2 }))).toEqual(['b', 'c']);
        expect(idsOf(await things.filter({ team: 'blue' }, { limit: 2 }))).toEqual(['a', 'b']);
        expect(idsOf(await things.filter({ points: { $gte: 2 } }, { skip: 1 }))).toEqual([
          'd',
          'e',
          'f',
        ]);
        expect((await things.find({ team: 'red' }, { skip: 1 }))?._id).toBe('e');
      });

      test('an update keeps the order of ties; a new sort value moves the document', async () => {
        const things = await players();
        await things.update('d', { team: 'blue', points: 2 });
        await things.patch('a', { points: 0 });
        expect(idsOf(await things.filter({}, { sort: { points: 1 } })).join('')).toBe('abcdfe');
        await fixture.reopen();
        const again = fixture.documents<Player>({ indexes });
        expect(idsOf(await again.filter({}, { sort: { points: 1 } })).join('')).toBe('abcdfe');
      });

      test('archived documents are included as the option says', async () => {
        const things = await players();
        await things.archive('a');
        await things.archive('d');
        const sort = { points: 1 } as const;
        const found = async (archived: boolean | 'only', limit?: number) =>
          idsOf(await things.filter({}, { sort, archived, limit })).join('');
        expect(await found(false)).toBe('bcfe');
        expect(await found(true)).toBe('bcdfae');
        expect(await found('only')).toBe('da');
        expect(await found(false, 3)).toBe('bcf');
        expect(await found('only', 1)).toBe('d');
      });

      test('select keeps fields, leaves them out, or takes items, by an object', async () => {
        const things = await players();
        const whole = await things.filter({}, { sort: { points: -1 }, limit: 2 });
        const shown = async (select: object) =>
          things.filter({}, { sort: { points: -1 }, limit: 2, select: select as never });
        expect(await shown({ 'name.last': 1, points: true })).toEqual([
          { _id: 'a', points: 3, name: { last: 'Zu' } },
          { _id: 'e', points: 3, name: { last: 'Ad' } },
        ]);
        expect(await shown({ points: 1, _id: 0 })).toEqual([{ points: 3 }, { points: 3 }]);
        expect(await shown({ points: 0, scores: 0 })).toEqual(
          whole.map(({ points: _, scores: __, ...rest }) => rest),
        );
        expect(await shown({ scores: { $slice: 1 }, points: 1 })).toEqual(
          whole.map(({ _id, points, scores }) => ({
            ...{ _id, points },
            ...(scores && { scores: scores.slice(0, 1) }),
          })),
        );
        expect(await shown({ scores: { $elemMatch: { $gt: 2 } } })).toEqual(
          whole.map(({ _id, scores }) => {
            const found = scores?.find((score) => score > 2);
            return found === undefined ? { _id } : { _id, scores: [found] };
          }),
        );
        const chosen = things.filter(() => true, { select: { points: 1 } });
        expect(await rejection(chosen)).toMatchObject({ code: 'select_invalid', place: 'select' });
      });

      test('select returns only its paths and _id', async () => {
        const things = await players();
        const options = {
          sort: { points: -1 },
          limit: 2,
          select: ['name.last', 'points'],
        } as const;
        const expected = [
          { _id: 'a', points: 3, name: { last: 'Zu' } },
          { _id: 'e', points: 3, name: { last: 'Ad' } },
        ];
        expect(await things.filter({}, options)).toEqual(expected);
        expect(await things.filter(() => true, options)).toEqual(expected);
        expect(await things.filter({}, { ...options, where: () => true })).toEqual(expected);
        expect(await things.find({ _id: 'e' }, options)).toEqual(expected[1]);
        expect(
          await things.find({ _id: 'c' }, { select: ['name', 'none' as 'team', '_archived'] }),
        ).toEqual({
          _id: 'c',
          _archived: false,
        });
        expect(await things.find({ _id: 'a' }, { select: [] })).toEqual({ _id: 'a' });
        expect(own(await things.filter({}, { select: ['team'], skip: 4 }))).toEqual([
          { team: 'red' },
          { team: 'green' },
        ]);
      });

      test('where filters before skip and limit apply', async () => {
        const things = await players();
        const seen: string[] = [];
        const where = (player: { _id: string; points: number }) => {
          seen.push(player._id);
          return player.points !== 2;
        };
        const options = { sort: { points: -1 }, where } as const;
        const found = await things.filter({ team: { $in: ['red', 'blue'] } }, options);
        expect(idsOf(found)).toEqual(['a', 'e', 'b', 'c']);
        expect(seen).toEqual(['a', 'e', 'd', 'b', 'c']);
        expect(idsOf(await things.filter({}, { ...options, skip: 1, limit: 2 }))).toEqual([
          'e',
          'b',
        ]);
        expect(await things.count({ team: 'blue' }, { where })).toBe(1);
        expect(await things.has({ team: 'green' }, { where })).toBe(false);
        expect((await things.find((one) => one.team === 'blue', options))?._id).toBe('b');
        expect(await things.deleteMany({ team: 'blue' }, { where })).toBe(1);
        expect(idsOf(await things.filter({}))).toEqual(['a', 'c', 'd', 'e', 'f']);
      });

      test('many documents are sorted, with ties across chunks', async () => {
        const things = fixture.documents<{ n: number; pad: string }>({
          name: 'many',
          indexes: indexes && ['n'],
        });
        const pad = 'x'.repeat(300);
        await things.insertMany(
          Array.from({ length: 5000 }, (_, at) => ({ _id: `${at}`, n: at % 7, pad })),
        );
        await things.save();
        const expected = Array.from({ length: 5000 }, (_, at) => at)
          .sort((a, b) => (b % 7) - (a % 7) || a - b)
          .map(String);
        const options = { sort: { n: -1 } } as const;
        expect(idsOf(await things.filter({}, options))).toEqual(expected);
        expect(idsOf(await things.filter(() => true, options))).toEqual(expected);
        expect(idsOf(await things.filter({}, { ...options, skip: 700, limit: 800 }))).toEqual(
          expected.slice(700, 1500),
        );
      });
    });
  }
}
