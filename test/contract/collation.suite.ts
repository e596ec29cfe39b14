import { describe, expect, test } from 'vitest';
import type { Collation, IndexOption } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { idsOf, rejection } from './outcomes.ts';

interface Person {
  name?: unknown;
  tags?: string[];
  n?: number;
}

const BASE: Collation = { locale: 'sv', strength: 2 };
const NUMERIC: Collation = { locale: 'en', numeric: true };

const PEOPLE = [
  { _id: 'a', name: 'Östen', tags: ['Red', 'blue'], n: 1 },
  { _id: 'b', name: 'zoe', tags: ['RED'], n: 2 },
  { _id: 'c', name: 'Åsa', n: 3 },
  { _id: 'd', name: 'Zoe', n: 4 },
  { _id: 'e', name: 'adam', n: 5 },
  { _id: 'f', name: 'Adam', n: 6 },
  { _id: 'g', name: 7, n: 7 },
  { _id: 'h', n: 8 },
  { _id: 'i', name: ['zoe', 'x'], n: 9 },
];

const DECLARATIONS: (IndexOption[] | undefined)[] = [
  undefined,
  ['name', { fields: 'name', collation: BASE }, { fields: ['name', 'n'], collation: 'sv' }],
  [{ fields: 'name', multi: true, collation: BASE }],
];

/** The option `collation` of queries and indexes. */
export function collationSuite(fixture: ClientFixture): void {
  for (const [at, indexes] of DECLARATIONS.entries())
    describe(`strings in a collation, with declaration ${at} of indexes`, () => {
      const people = async () => {
        const things = fixture.documents<Person>({ indexes });
        await things.insertMany(PEOPLE);
        return things;
      };

      test('are compared by it in $expr', async () => {
        const things = await people();
        const found = async ($expr: object, collation?: Collation) =>
          idsOf(await things.filter({ $expr } as object, { collation })).join('');
        const CASES: [object, string, string][] = [
          [{ $eq: ['$name', 'ZOE'] }, 'bd', ''],
          [{ $ne: ['$name', 'zoe'] }, 'acefghi', 'acdefghi'],
          [{ $gte: ['$name', 'ö'] }, 'ai', 'i'],
          [{ $lt: ['$name', 'B'] }, 'efgh', 'fgh'],
          [{ $eq: [{ $cmp: ['$name', 'ADAM'] }, 0] }, 'ef', ''],
          [{ $in: ['$name', ['ADAM', 7, 'ÅSA']] }, 'cefg', 'g'],
          [{ $eq: [{ $indexOfArray: ['$tags', 'red'] }, 0] }, 'ab', ''],
          [{ $let: { vars: { own: '$name' }, in: { $eq: ['$$own', 'ADAM'] } } }, 'ef', ''],
          [{ $eq: [['$name'], ['ADAM']] }, 'ef', ''],
          [{ $eq: ['ADA', 'ada'] }, 'abcdefghi', ''],
        ];
        for (const [$expr, collated, plain] of CASES)
          expect([$expr, await found($expr, BASE), await found($expr)]).toEqual([
            ...[$expr, collated, plain],
          ]);
        const numbers = { $gt: ['$v', 'v9'] };
        await things.insert({ _id: 'z', v: 'v10' } as never);
        expect(await found({ $and: [numbers, { $eq: ['$_id', 'z'] }] }, NUMERIC)).toBe('z');
        expect(await found(numbers)).toBe('');
      });

      test('are sorted, compared and found by it, before and after a reopening', async () => {
        let things = await people();
        for (const _ of ['before', 'after']) {
          const found = async (criteria: object, collation: Collation | null = BASE) =>
            idsOf(await things.filter(criteria, { collation: collation ?? undefined })).join('');
          expect(await found({ name: 'ZOE' })).toBe('bdi');
          expect(await found({ name: 'ZOE' }, { locale: 'sv' })).toBe('');
          expect(await found({ name: 'zoe' }, null)).toBe('bi');
          expect(await found({ name: { $in: ['ADAM', 7, 'asa'] } })).toBe('efg');
          expect(await found({ name: { $nin: ['ADAM', 7] } })).toBe('abcdhi');
          expect(await found({ name: { $ne: 'zoe' } })).toBe('acefgh');
          expect(await found({ name: { $gt: 'Z', $lt: 'ö' } })).toBe('bcdi');
          expect(await found({ name: /^zo/ })).toBe('bi');
          expect(await found({ tags: { $all: ['red'] } })).toBe('ab');
          expect(await found({ tags: { $elemMatch: { $eq: 'BLUE' } } })).toBe('a');
          expect(await found({ $or: [{ name: 'åSA' }, { n: 8 }] })).toBe('ch');
          const options = { sort: { name: 1 }, collation: BASE } as const;
          expect(idsOf(await things.filter({ n: { $lt: 9 } }, options)).join('')).toBe('hgefbdca');
          expect(await things.count({ name: 'ADAM' }, { collation: BASE })).toBe(2);
          expect(await things.has({ name: 'ADAM' }, { collation: BASE })).toBe(true);
          expect(await things.has({ name: 'ADAM' })).toBe(false);
          expect((await things.find({ name: 'ZOE' }, { collation: BASE }))?._id).toBe('b');
          expect((await things.explain({ name: 'ZOE' }, { collation: BASE })).returned).toBe(3);
          const each: string[] = [];
          for await (const { _id } of things.each({}, { collation: 'sv', sort: { name: -1 } }))
            each.push(_id);
          expect(each.join('')).toBe('acdbifegh');
          await things.save();
          await fixture.reopen();
          things = fixture.documents<Person>({ indexes });
        }
      });

      test('make pages, which go on by `after`', async () => {
        const things = await people();
        const options = { sort: { name: 1 }, collation: BASE, limit: 2 } as const;
        const pages: string[] = [];
        for (let after: { _id: string } | undefined; ; ) {
          const page = await things.filter({}, { ...options, ...(after && { after }) });
          if (page.length === 0) break;
          pages.push(idsOf(page).join(''));
          after = page.at(-1);
        }
        const all = idsOf(await things.filter({}, { ...options, limit: 100 })).join('');
        expect(pages.join('')).toBe(all);
        const copy = { ...PEOPLE[3] } as { _id: string };
        const rest = await things.filter({}, { ...options, limit: 100, after: copy });
        expect(idsOf(rest).join('')).toBe(all.slice(all.indexOf('d') + 1));
      });

      test('decide what is changed and deleted, and which item `$` means', async () => {
        const things = await people();
        const options = { collation: BASE } as const;
        expect(
          await things.patchMany({ tags: 'rEd' }, { $set: { 'tags.$': 'green' } }, options),
        ).toBe(2);
        expect((await things.get('a'))?.tags).toEqual(['green', 'blue']);
        await things.patchMany(
          { n: 1 },
          { $set: { 'tags.$[tag]': 'x' } },
          { ...options, array_filters: [{ tag: 'BLUE' }] },
        );
        expect((await things.get('a'))?.tags).toEqual(['green', 'x']);
        expect((await things.deleteOne({ name: 'ADAM' }, options))?._id).toBe('e');
        expect(await things.deleteMany({ name: 'ADAM' }, options)).toBe(1);
        expect(await things.deleteMany({ name: 'ADAM' }, options)).toBe(0);
        const changes = { $addToSet: { tags: 'X' }, $max: { n: 0 } };
        expect((await things.patchOne({ n: 1 }, changes, options))?.tags).toEqual(['green', 'x']);
        expect(await things.patchMany({}, { $pull: { tags: 'X' } }, options)).toBe(7);
        expect((await things.get('a'))?.tags).toEqual(['green']);
      });

      test('decide which item `select` shows', async () => {
        const things = await people();
        const select = { tags: { $elemMatch: { $eq: 'BLUE' } } } as const;
        const shown = async (options: object) =>
          (await things.find({ n: 1 }, { select, ...options }))?.tags;
        expect(await shown({ collation: BASE })).toEqual(['blue']);
        expect(await shown({})).toBeUndefined();
      });

      test('are in live queries, whose order follows changes', async () => {
        const things = await people();
        const options = { sort: { name: 1 }, collation: BASE } as const;
        const live = things.live({ name: { $gte: 'a' }, n: { $lt: 9 } }, options);
        const count = things.liveCount({ name: 'ADAM' }, { collation: BASE });
        const stops = [live.subscribe(() => undefined), count.subscribe(() => undefined)];
        await live.ready;
        await count.ready;
        expect(idsOf(live.getSnapshot().data ?? []).join('')).toBe('efbdca');
        await things.patch('a', { name: 'ADAM' });
        await things.patch('b', { name: 'Åsa' });
        expect(idsOf(live.getSnapshot().data ?? []).join('')).toBe('aefdbc');
        expect(count.getSnapshot().data).toBe(3);
        for (const stop of stops) stop();
      });

      test('are compared in the read set of a transaction', async () => {
        const things = await people();
        let runs = 0;
        const found = await fixture.db.transaction(async (tx) => {
          const count = await tx(things).count({ name: 'ADAM' }, { collation: BASE });
          if (++runs === 1) await things.insert({ name: 'aDaM' });
          await tx(things).insert({ n: count });
          return count;
        });
        expect([runs, found]).toEqual([2, 3]);
      });
    });

  describe('an index with a collation', () => {
    test('serves queries of the same one alone', async () => {
      const things = fixture.documents<Person>({
        indexes: [
          { fields: 'name', collation: { locale: 'sv', strength: 2, numeric: false } },
          { fields: 'n' },
        ],
      });
      await things.insertMany(
        Array.from({ length: 500 }, (_, at) => ({ name: `Name ${at % 50}`, n: at })),
      );
      const planOf = async (criteria: object, collation?: Collation) => {
        const { plan, returned } = await things.explain(criteria, { collation });
        return [plan.kind === 'index' ? plan.index : plan.kind, returned];
      };
      expect(await planOf({ name: 'NAME 7' }, BASE)).toEqual(['name (sv 2)', 10]);
      expect(await planOf({ name: 'NAME 7' }, 'sv')).toEqual(['scan', 0]);
      expect(await planOf({ name: 'Name 7' })).toEqual(['scan', 10]);
      expect(await planOf({ n: 7 }, BASE)).toEqual(['scan', 1]);
      expect(await planOf({ n: 7 })).toEqual(['n', 1]);
      expect(await planOf({ name: { $gt: 'NAME 8' } }, BASE)).toEqual(['name (sv 2)', 10]);
    });

    test('that is unique refuses what it compares as equal', async () => {
      const declared = {
        indexes: [{ fields: 'email', unique: true, collation: { locale: 'en', strength: 2 } }],
      } as const;
      let things = fixture.documents(declared as never);
      await things.insert({ _id: 'ada', email: 'Ada@example.org' });
      for (const _ of ['before', 'after']) {
        const error = await rejection(things.insert({ email: 'ada@EXAMPLE.org' }));
        expect(error).toMatchObject({ code: 'unique_violation', place: 'email (en 2)' });
        expect(error.message).toContain('"ada"');
        await things.save();
        await fixture.reopen();
        things = fixture.documents(declared as never);
      }
      await things.patch('ada', { email: 'ADA@example.org' });
      await things.insert({ email: 'bob@example.org' });
      const plain = fixture.documents({ name: 'plain' });
      await plain.insertMany([{ email: 'a' }, { email: 'A' }]);
      const late = fixture.documents({ name: 'plain', ...declared } as never);
      expect(await rejection(late.ready)).toMatchObject({ code: 'unique_violation' });
    });

    test('compares digits as numbers where it is numeric', async () => {
      const things = fixture.documents<Person>({
        indexes: [{ fields: 'name', collation: NUMERIC }],
      });
      await things.insertMany(['v10', 'v9', 'v100', 'V1'].map((name) => ({ _id: name, name })));
      const options = { sort: { name: 1 }, collation: NUMERIC } as const;
      expect(idsOf(await things.filter({}, options))).toEqual(['V1', 'v9', 'v10', 'v100']);
    });
  });

  describe('a collation that is refused', () => {
    const CASES: [unknown, string, string][] = [
      ['xx', 'option_invalid', 'collation.locale'],
      ['not a tag', 'option_invalid', 'collation.locale'],
      [{}, 'option_missing', 'collation.locale'],
      [{ locale: 5 }, 'option_invalid', 'collation.locale'],
      [{ locale: 'sv', strength: 4 }, 'option_invalid', 'collation.strength'],
      [{ locale: 'sv', strength: '2' }, 'option_invalid', 'collation.strength'],
      [{ locale: 'sv', numeric: 1 }, 'option_invalid', 'collation.numeric'],
      [{ locale: 'sv', caseFirst: 'first' }, 'option_invalid', 'collation.caseFirst'],
      [{ locale: 'sv', numericOrdering: true }, 'option_unknown', 'numericOrdering'],
      [5, 'option_invalid', 'collation'],
      [null, 'option_invalid', 'collation'],
      [['sv'], 'option_invalid', 'collation'],
    ];

    test.each(CASES)('%o', async (collation, code, place) => {
      const things = fixture.documents();
      const options = { collation } as never;
      const error = await rejection(things.filter({}, options));
      expect(error instanceof fixture.lib.OptionError).toBe(true);
      expect(error).toMatchObject({ code, place });
      expect(await rejection(things.deleteMany({}, options))).toMatchObject({ code, place });
      expect(() => things.live({}, options)).toThrow(fixture.lib.OptionError);
      const prefix = code === 'option_unknown' ? '' : 'indexes[0].';
      expect(() =>
        fixture.documents({ name: 'other', indexes: [{ fields: 'a', collation } as never] }),
      ).toThrow(expect.objectContaining({ code, place: `${prefix}${place}` }));
    });
  });
}
