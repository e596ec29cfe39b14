import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection } from './outcomes.ts';

/** `explain`: the plan and its cost as data. */
export function explainSuite(fixture: ClientFixture): void {
  describe('explain', () => {
    const users = async () => {
      const things = fixture.documents<{ age: number; region: string; n: number }>({
        indexes: ['age', { fields: ['region', 'n'] }],
      });
      await things.insertMany(
        Array.from({ length: 100 }, (_, n) => ({
          _id: `u${n}`,
          age: n % 10,
          region: n < 50 ? 'eu' : 'us',
          n,
        })),
      );
      return things;
    };

    test('reports place and duration of the query', async () => {
      const things = await users();
      const { engine, engine_ms, total_ms } = await things.explain({ age: 3 });
      expect(engine).toBe(fixture.kind.engine);
      // Two coarse clocks: neither time need be the greater.
      expect(engine_ms >= 0 && total_ms >= 0).toBe(true);
    });

    test('of a pipeline: what the plan answers, and what a live one keeps up to date', async () => {
      const things = await users();
      const kinds = fixture.documents({ name: 'kinds', indexes: ['region'] });
      await kinds.insertMany([{ region: 'eu' }, { region: 'us' }, { region: 'as' }]);
      const counts = await things.explain([{ $group: { _id: '$age', n: { $sum: 1 } } }]);
      expect(counts).toMatchObject({
        plan: { kind: 'index', index: 'age' },
        stages: [{ stage: '$group', planned: true, live: 'differences' }],
        keys_examined: 100,
        documents_examined: 0,
        returned: 10,
      });
      const totals = await things.explain([
        { $match: { region: 'us', n: { $gte: 90 } } },
        { $group: { _id: '$age', n: { $sum: '$n' } } },
        { $lookup: { from: kinds.name, localField: '_id', foreignField: 'region', as: 'k' } },
      ]);
      expect(totals).toMatchObject({
        plan: { kind: 'index', index: 'region,n' },
        documents_examined: 10,
        returned: 10,
        stages: [
          { stage: '$match', planned: true, live: 'again' },
          { stage: '$group', planned: false, live: 'again' },
          { stage: '$lookup', planned: false, live: 'again' },
        ],
        relations: [{ relation: 'pipeline[2].$lookup', use: '$lookup', returned: 0 }],
      });
      const join = { localField: 'region', foreignField: 'region', as: 'k' };
      const looked = async (from: { readonly name: string }) =>
        (await things.explain([{ $limit: 1 }, { $lookup: { from: from.name, ...join } }]))
          .relations;
      expect(await looked(kinds)).toMatchObject([{ plan: { kind: 'index' }, returned: 1 }]);
      const plain = fixture.documents<{ region: string }>({ name: 'plain' });
      await plain.insertMany([{ region: 'eu' }, { region: 'us' }]);
      expect(await looked(plain)).toMatchObject([
        { plan: { kind: 'scan' }, missing_index: 'region', documents_examined: 2, returned: 1 },
      ]);
      const equal = { $match: { $expr: { $eq: ['$region', '$$region'] } } };
      const inner = { let: { region: '$region' }, pipeline: [equal], as: 'k' };
      const { relations } = await things.explain([{ $lookup: { from: kinds.name, ...inner } }]);
      expect(relations).toMatchObject([{ plan: { kind: 'index' }, keys_examined: 100 }]);
      const refused = things.explain([{ $grup: {} }] as never);
      expect(await rejection(refused)).toMatchObject({ code: 'operator_unknown' });
    });

    test('a covering index examines no document', async () => {
      const things = await users();
      expect(await things.explain({ age: 3 })).toMatchObject({
        plan: { kind: 'index', index: 'age', exact: true, ordered: true },
        keys_examined: 10,
        documents_examined: 0,
        returned: 10,
      });
    });

    test('conditions outside the index examine documents', async () => {
      const things = await users();
      expect(await things.explain({ age: 3, n: { $mod: [2, 1] } })).toMatchObject({
        plan: { kind: 'index', index: 'age', exact: false },
        keys_examined: 10,
        documents_examined: 10,
        returned: 10,
      });
    });

    test('a scan examines every document, and none if all match', async () => {
      const things = await users();
      expect(await things.explain({ n: { $lt: 10 } })).toMatchObject({
        plan: { kind: 'scan' },
        keys_examined: 0,
        documents_examined: 100,
        returned: 10,
      });
      await things.archive('u0');
      const all = await things.explain({});
      expect(all).toMatchObject({ plan: { kind: 'scan' }, documents_examined: 0, returned: 99 });
    });

    test('a sort by an index stops at the limit', async () => {
      const things = await users();
      const options = { sort: { age: -1 }, skip: 2, limit: 5 } as const;
      expect(await things.explain({}, options)).toMatchObject({
        plan: { kind: 'index', index: 'age', ordered: true, reverse: true },
        keys_examined: 7,
        documents_examined: 0,
        returned: 5,
      });
      expect(await things.explain({ region: 'us' }, { sort: { n: 1 }, limit: 4 })).toMatchObject({
        plan: { kind: 'index', index: 'region,n', ordered: true, reverse: false },
        keys_examined: 4,
        returned: 4,
      });
    });

    test('ids and branches of $or have their own plans', async () => {
      const things = await users();
      expect(await things.explain({ _id: { $in: ['u1', 'u2', 'none'] } })).toMatchObject({
        plan: { kind: 'ids', ids: ['none', 'u1', 'u2'] },
        returned: 2,
      });
      expect(await things.explain({ $or: [{ age: 3 }, { region: 'us', n: 53 }] })).toMatchObject({
        plan: { kind: 'union', branches: [{ index: 'age' }, { index: 'region,n' }] },
        returned: 10,
      });
      expect((await things.explain({ $or: [{ age: 3 }, { n: 4 }] })).plan.kind).toBe('scan');
    });

    test('ignores functions, and refuses the same as filter', async () => {
      const things = await users();
      const where = () => false;
      expect(await things.explain({ age: 3 }, { where, limit: 1 })).toMatchObject({ returned: 10 });
      expect((await things.explain(() => false)).returned).toBe(100);
      const wrong = await rejection(things.explain({ age: { $no: 1 } } as never));
      expect(wrong.code).toBe('operator_unknown');
    });

    test('uses the declared indexes after a reload', async () => {
      await users();
      await fixture.reopen();
      const things = fixture.documents<{ age: number }>();
      expect((await things.explain({ age: 3 })).plan.kind).toBe('scan');
      expect((await things.explain({ age: 3 })).returned).toBe(10);
    });
  });
}
