import { describe, expect, test } from 'vitest';
import type { IndexOption } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { idsOf, rejection } from './outcomes.ts';

interface Task {
  title: string;
  state?: string;
  n?: number;
}

const ACTIVE: IndexOption[] = [{ fields: 'title', unique: true, where: { _archived: false } }];
const OPEN: IndexOption[] = [{ fields: 'n', where: { state: 'open' } }];

/** Indexes with `where`. */
export function partialIndexesSuite(fixture: ClientFixture): void {
  describe('a unique index of active documents', () => {
    test('lets archived ones be, before and after a reopening', async () => {
      let tasks = fixture.documents<Task>({ indexes: ACTIVE });
      await tasks.insertMany([
        { _id: 'a', title: 'one' },
        { _id: 'b', title: 'two' },
      ]);
      for (const round of ['first', 'second']) {
        expect(await rejection(tasks.insert({ title: 'one' }))).toMatchObject({
          code: 'unique_violation',
          place: 'title (where {"_archived":false})',
        });
        await tasks.archive('a');
        await tasks.insert({ _id: round, title: 'one' });
        expect(await rejection(tasks.unarchive('a'))).toMatchObject({ code: 'unique_violation' });
        expect((await tasks.get('a'))?._archived).toBe(true);
        expect(await rejection(tasks.patch('b', { title: 'one' }))).toMatchObject({
          code: 'unique_violation',
        });
        await tasks.delete(round);
        expect(await tasks.unarchive('a')).toBe(true);
        await tasks.save();
        await fixture.reopen();
        tasks = fixture.documents<Task>({ indexes: ACTIVE });
      }
    });

    test('serves queries for active documents alone', async () => {
      const tasks = fixture.documents<Task>({ indexes: ACTIVE });
      await tasks.insertMany(Array.from({ length: 300 }, (_, n) => ({ title: `t${n}` })));
      const { _id } = (await tasks.find({ title: 't7' })) as { _id: string };
      await tasks.archive(_id);
      expect((await tasks.explain({ title: 't8' })).plan.kind).toBe('index');
      const all = await tasks.explain({ title: 't7' }, { archived: true });
      expect([all.plan.kind, all.returned]).toEqual(['scan', 1]);
      expect(all.unfit).toEqual([{ index: 'title (where {"_archived":false})', why: 'where' }]);
      expect(await tasks.count({ title: 't7' })).toBe(0);
      expect(await tasks.count({ title: 't7' }, { archived: 'only' })).toBe(1);
    });

    test('is not read in the place of a scan, as nearly all documents are in it', async () => {
      const tasks = fixture.documents<Task>({ indexes: ACTIVE });
      await tasks.insertMany(Array.from({ length: 300 }, (_, n) => ({ title: `t${n}`, n })));
      const scan = { plan: { kind: 'scan' } };
      expect(await tasks.explain({ n: 7 })).toMatchObject(scan);
      expect(await tasks.explain({ n: 7 }, { sort: { n: 1 } })).toMatchObject(scan);
      expect(await tasks.explain({}, { limit: 20 })).toMatchObject(scan);
      const sorted = await tasks.explain({}, { sort: { title: 1 }, limit: 20 });
      expect(sorted).toMatchObject({ plan: { kind: 'index', ordered: true }, keys_examined: 20 });
      for (const { _id, n } of await tasks.filter({})) if (n && n > 20) await tasks.archive(_id);
      expect(await tasks.explain({ n: 7 })).toMatchObject({ plan: { kind: 'index' } });
    });
  });

  describe('an index with criteria', () => {
    const filled = async () => {
      const tasks = fixture.documents<Task>({ indexes: OPEN });
      await tasks.insertMany(
        Array.from({ length: 600 }, (_, n) => ({
          title: `t${n}`,
          state: n % 20 === 0 ? 'open' : 'done',
          n: 600 - n,
        })),
      );
      return tasks;
    };

    test('serves queries that imply them, and `explain` says why others are not', async () => {
      const tasks = await filled();
      const open = await tasks.explain({ state: 'open', n: { $lt: 100 } });
      expect(open).toMatchObject({ plan: { kind: 'index' }, keys_examined: 4, returned: 4 });
      expect(open.unfit).toBeUndefined();
      const any = await tasks.explain({ n: { $lt: 100 } });
      expect(any).toMatchObject({ plan: { kind: 'scan' }, returned: 99 });
      expect(any.unfit).toEqual([{ index: 'n (where {"state":"open"})', why: 'where' }]);
      const collated = await tasks.explain({ state: 'open', n: 1 }, { collation: 'sv' });
      expect(collated.unfit).toEqual([{ index: 'n (where {"state":"open"})', why: 'collation' }]);
      const union = { $or: [{ n: 600 }, { n: 580 }], state: 'open' };
      expect(await tasks.explain(union)).toMatchObject({ plan: { kind: 'union' }, returned: 2 });
    });

    test('answers what it guarantees without a look at any document', async () => {
      const tasks = await filled();
      await tasks.save();
      const next = { sort: { n: 1 }, limit: 2 } as const;
      const wide = { state: { $eq: 'open', $gt: 'a' } };
      for (const criteria of [{ state: 'open' }, { state: 'open', n: { $gt: 5 } }, wide])
        expect(await tasks.explain(criteria, next)).toMatchObject({
          plan: { exact: true, ordered: true },
          ...{ keys_examined: 2, documents_examined: 0, returned: 2 },
        });
      expect(await tasks.count({ state: 'open' })).toBe(30);
      const { plan } = await tasks.explain({ state: { $eq: 'open', $gt: 'p' } }, next);
      expect(plan).toMatchObject({ kind: 'index', exact: false });
    });

    test('is read no further than a page needs', async () => {
      const tasks = await filled();
      await tasks.save();
      const others = { state: 'open', title: { $ne: 't580' } };
      const page = () => tasks.explain(others, { sort: { n: 1 }, limit: 2 });
      await page(); // reads segments, which all keys are listed for
      expect(await page()).toMatchObject({ plan: { exact: false }, keys_examined: 3, returned: 2 });
    });

    test('follows changes of what it asks for', async () => {
      const tasks = await filled();
      const first = async () =>
        (await tasks.filter({ state: 'open' }, { sort: { n: 1 }, limit: 2 })).map(({ n }) => n);
      expect(await first()).toEqual([20, 40]);
      const { _id } = (await tasks.find({ n: 20 })) as { _id: string };
      await tasks.patch(_id, { state: 'done' });
      expect(await first()).toEqual([40, 60]);
      await tasks.patchMany({ n: 3 }, { state: 'open' });
      expect(await first()).toEqual([3, 40]);
      await tasks.deleteMany({ n: 3 });
      expect(await first()).toEqual([40, 60]);
      await tasks.save();
      const backup = await tasks.createBackup();
      await tasks.deleteMany({ state: 'open' });
      expect(await first()).toEqual([]);
      await tasks.loadBackup(backup);
      expect(await first()).toEqual([40, 60]);
      expect(idsOf(await tasks.filter({ state: 'open', n: 40 }))).toHaveLength(1);
    });
  });

  describe('a `where` that is refused', () => {
    test.each([
      [{}],
      [null],
      ['open'],
      [() => true],
      [{ a: /x/ }],
      [{ a: { $regex: 'x' } }],
      [{ a: { $ne: 1 } }],
      [{ a: { $in: 1 } }],
      [{ a: {} }],
      [{ a: { b: 1 } }],
      [{ a: new Date() }],
      [{ a: Number.NaN }],
      [{ $or: [{ a: 1 }] }],
      [{ $expr: { $gt: ['$a', '$b'] } }],
      [{ _id: 'a' }],
    ])('%o', (where) => {
      const indexes = [{ fields: 'n', where } as never];
      expect(() => fixture.documents({ indexes })).toThrow(
        expect.objectContaining({ code: 'option_invalid', place: 'indexes[0].where' }),
      );
    });
  });
}
