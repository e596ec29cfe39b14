import { describe, expect, test } from 'vitest';
import type { DocumentCollection, FindOptions, IndexOption, Params } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { allOf, idsOf, rejection } from './outcomes.ts';

interface Item {
  n: number;
  kind: string;
}

const ITEMS = Array.from({ length: 23 }, (_, at) => ({
  _id: `i${String(at).padStart(2, '0')}`,
  n: (at * 7) % 5,
  kind: at % 2 ? 'odd' : 'even',
}));

const ORDERS: FindOptions<Item>[] = [
  {},
  { sort: { n: 1 } },
  { sort: { n: -1 } },
  { sort: { kind: 1, n: -1 } },
  { sort: { kind: -1, n: -1 } },
];

const DECLARATIONS: (IndexOption[] | undefined)[] = [undefined, ['n', { fields: ['kind', 'n'] }]];

/** `after`: pages stay right across changes. */
export function pagingSuite(fixture: ClientFixture): void {
  for (const indexes of DECLARATIONS) {
    describe(`pages, ${indexes ? 'with' : 'without'} indexes`, () => {
      const items = async () => {
        const things = fixture.documents<Item>({ indexes });
        await things.insertMany(ITEMS);
        await things.save();
        return things;
      };

      const pages = async (
        things: DocumentCollection<Item>,
        params: Params<Item>,
        options: FindOptions<Item>,
        between: (page: { _id: string }[]) => unknown = () => undefined,
      ): Promise<string[]> => {
        const found: string[] = [];
        for (let after: object | undefined; ; ) {
          const page = await things.filter(params, {
            ...options,
            after,
            limit: 4,
          } as FindOptions<Item>);
          found.push(...idsOf(page));
          if (page.length < 4) return found;
          after = page.at(-1);
          await between(page);
        }
      };

      test('follow each other in every order, with select, where and functions', async () => {
        const things = await items();
        const even = (item: Item) => item.kind === 'even';
        for (const order of ORDERS) {
          const all = idsOf(await things.filter({}, order));
          expect(all.length).toBe(23);
          expect(await pages(things, {}, order)).toEqual(all);
          expect(await pages(things, {}, { ...order, select: ['_archived'] as never })).toEqual(
            all,
          );
          expect(await pages(things, () => true, { ...order, select: [] as never })).toEqual(all);
          const some = idsOf(await things.filter({ kind: 'even' }, order));
          expect(await pages(things, { kind: 'even' }, order)).toEqual(some);
          expect(await pages(things, {}, { ...order, where: even })).toEqual(some);
          expect(await pages(things, even, order)).toEqual(some);
        }
      });

      test('the rest after a page can be counted, found and iterated', async () => {
        const things = await items();
        for (const order of ORDERS) {
          const all = idsOf(await things.filter({}, order));
          const [after] = await things.filter({}, { ...order, skip: 9, limit: 1 });
          const options = { ...order, after };
          expect(await things.count({}, options)).toBe(13);
          expect(await things.count(() => true, options)).toBe(13);
          expect((await things.find({}, options))?._id).toBe(all[10]);
          expect(idsOf(await things.filter({}, { ...options, skip: 2, limit: 3 }))).toEqual(
            all.slice(12, 15),
          );
          expect(idsOf(await allOf(things.each({}, options)))).toEqual(all.slice(10));
          // By `_id`, too, which has no sort of its own.
          for (const at of [8, 10]) {
            const found = await things.filter({ _id: all[at] as string }, options);
            expect(idsOf(found)).toEqual(all.slice(10).filter((id) => id === all[at]));
          }
          expect((await things.explain({}, options)).returned).toBe(13);
        }
      });

      test('stay right while documents are inserted, deleted and changed', async () => {
        for (const order of ORDERS) {
          const things = await items();
          const all = idsOf(await things.filter({}, order));
          let inserted = 0;
          const found = await pages(things, {}, order, async (page) => {
            const [first, second, , last] = page as { _id: string }[];
            // The last document of the page is deleted or moved by now.
            if (inserted % 2) await things.delete(last?._id as string);
            else
              await things.patch(last?._id as string, { n: inserted % 4 ? 99 : -99, kind: 'zzz' });
            await things.delete(first?._id as string);
            await things.archive(second?._id as string);
            await things.insert({ _id: `new${inserted++}`, n: -1, kind: 'aaa' });
          });
          const untouched = new Set(all);
          const old = found.filter((id) => untouched.has(id));
          // Each once, in order; documents moved behind the page may come again.
          expect(old.filter((id, at) => old.indexOf(id) === at)).toEqual(all);
          await things.deleteMany({}, { archived: true });
        }
      });

      test('go on after a cursor document kept as JSON over a reload', async () => {
        const things = await items();
        const ends: [FindOptions<Item>, string, string[]][] = [];
        for (const order of ORDERS) {
          const page = await things.filter({}, { ...order, limit: 8 });
          const rest = idsOf(await things.filter({}, { ...order, skip: 8 }));
          ends.push([order, JSON.stringify(page.at(-1)), rest]);
        }
        await fixture.reopen();
        const again = fixture.documents<Item>({ indexes });
        for (const [order, end, rest] of ends) {
          const after = JSON.parse(end) as { _id: string };
          expect(idsOf(await again.filter({}, { ...order, after }))).toEqual(rest);
        }
      });

      test('a cursor document works for any sort', async () => {
        const things = await items();
        const [end] = await things.filter({}, { sort: { n: 1 }, skip: 11, limit: 1 });
        for (const order of ORDERS) {
          const all = idsOf(await things.filter({}, order));
          const rest = all.slice(all.indexOf(end?._id as string) + 1);
          expect(idsOf(await things.filter({}, { ...order, after: end }))).toEqual(rest);
        }
      });

      test('the last document of an incomplete page works as a cursor, too', async () => {
        const things = await items();
        for (const params of [{ n: 3 }, ({ n }: Item) => n === 3]) {
          const options = { sort: { kind: 1 }, limit: 100 } as const;
          const page = await things.filter(params, options);
          const last = page.at(-1) as (typeof page)[number];
          await things.delete(last._id);
          expect(await things.filter(params, { ...options, after: last })).toEqual([]);
          await things.insert({ _id: `z${page.length}`, n: 3, kind: 'zz' });
          expect(idsOf(await things.filter(params, { ...options, after: last }))).toEqual([
            `z${page.length}`,
          ]);
        }
      });

      test('an unknown document as cursor is a typed error', async () => {
        const things = await items();
        for (const params of [{}, () => true]) {
          const error = await rejection(things.filter(params, { after: { _id: 'nobody' } }));
          expect(error instanceof fixture.lib.CriteriaError).toBe(true);
          expect(error).toMatchObject({ code: 'after_unknown', place: 'after' });
        }
      });
    });
  }
}
