import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/index.ts';
import { equalValues } from '../../src/query/value/compare-values.ts';
import { testDatabase } from '../../src/testing/index.ts';

type Document = Record<string, unknown> & { _id: string };
type Any = DocumentCollection<Record<string, unknown>>;

const scalar = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>('1', '2', '3') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(1, 1n, null, new Date(1), /1/, { a: 1 }, Number.NaN),
  },
);
const fields = fc.record(
  {
    x: fc.oneof({ weight: 3, arbitrary: scalar }, fc.array(scalar, { maxLength: 3 })),
    o: fc.oneof(fc.record({ p: scalar }), fc.array(fc.record({ p: scalar }), { maxLength: 2 })),
    n: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ['n'] },
);
const PATHS = ['_id', 'x', 'o.p'] as const;

interface Lookup {
  local: (typeof PATHS)[number];
  foreign: (typeof PATHS)[number];
  /** The form with a pipeline whose variable has to equal. */
  isPipeline: boolean;
  least: number | undefined;
  own: boolean;
}

const lookup: fc.Arbitrary<Lookup> = fc.record({
  local: fc.constantFrom(...PATHS),
  foreign: fc.constantFrom(...PATHS),
  isPipeline: fc.boolean(),
  least: fc.option(fc.constantFrom(1, 2), { nil: undefined }),
  own: fc.boolean(),
});

function stageOf({ local, foreign, isPipeline, least, own }: Lookup): object {
  const from = own ? 'parents' : 'children';
  const among = least === undefined ? [] : [{ $match: { n: { $gte: least } } }];
  const last = { $project: { _id: 1 } };
  if (!isPipeline) {
    const join = { localField: local, foreignField: foreign };
    return { $lookup: { from, ...join, pipeline: [...among, last], as: 'found' } };
  }
  const equal = { $match: { $expr: { $and: [{ $eq: [`$${foreign}`, '$$value'] }, true] } } };
  const pipeline = [equal, ...among, last];
  return { $lookup: { from, let: { value: `$${local}` }, pipeline, as: 'found' } };
}

/** All values at a path: of arrays their items; `undefined` for each missing one. */
function valuesAt(document: unknown, path: string): unknown[] {
  let values: unknown[] = [document];
  for (const key of path.split('.'))
    values = values.flatMap((value) =>
      [value].flat().map((one) => (one as Record<string, unknown> | undefined)?.[key]),
    );
  return values;
}

/** What the aggregation language has at a path: arrays stay, and keep no missing values. */
function inLanguage(document: Document, path: string): unknown {
  const [first, second] = path.split('.') as [string, string?];
  const value = document[first];
  if (second === undefined) return value;
  if (!Array.isArray(value)) return (value as Record<string, unknown> | undefined)?.[second];
  return value.map((one) => one[second]).filter((one) => one !== undefined);
}

const isNone = (value: unknown) => value === null || value === undefined;

/** Joins by loops. */
function expected(parents: Document[], children: Document[], asked: Lookup): string[][] {
  const others = asked.own ? parents : children;
  const belongs = (parent: Document, child: Document): boolean => {
    const own = inLanguage(parent, asked.local);
    if (asked.isPipeline) {
      const other = inLanguage(child, asked.foreign);
      return equalValues(own, other) || (own === undefined && other === undefined);
    }
    const values = Array.isArray(own) ? own : [own];
    const theirs = valuesAt(child, asked.foreign).flatMap((one) =>
      Array.isArray(one) ? one : [one],
    );
    return values.some((value) =>
      theirs.some((other) => (isNone(value) ? isNone(other) : equalValues(value, other))),
    );
  };
  return parents.map((parent) =>
    others
      .filter(({ n }) => asked.least === undefined || (n as number) >= asked.least)
      .filter((child) => belongs(parent, child))
      .map(({ _id }) => _id),
  );
}

type Found = { found: { _id: string }[] };

test('$lookup gives what nested loops give, by whatever plan, live, and in transactions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        asked: lookup,
        caching: fc.boolean(),
        indexes: fc.subarray(['x', 'o.p']),
        parents: fc.array(fields, { minLength: 1, maxLength: 6 }),
        children: fc.array(fields, { maxLength: 8 }),
        staged: fields,
        later: fields,
      }),
      async ({ asked, caching, indexes, parents: given, children: others, staged, later }) => {
        const db = await testDatabase({ auto_close: false });
        const open = (name: string) =>
          new db.Collection({
            ...{ name, type: 'DOCUMENT_BASED', caching, indexes },
          }) as unknown as Any;
        const [parents, children] = [open('parents'), open('children')];
        await parents.insertMany(given.map((one, at) => ({ _id: String(at), ...one })));
        await children.insertMany(others.map((one, at) => ({ _id: String(at), ...one })));
        await db.save();
        const pipeline = [stageOf(asked)];
        const fresh = async (tx = <C>(one: C): C => one) => {
          const all = [await tx(parents).filter({}), await tx(children).filter({})];
          return expected(all[0] as never, all[1] as never, asked);
        };
        const idsOf = (made: readonly object[]) =>
          (made as Found[]).map(({ found }) => found.map(({ _id }) => _id));
        expect(idsOf(await parents.aggregate(pipeline))).toEqual(await fresh());
        const backup = await parents.createBackup();
        const before = idsOf(await parents.aggregate(pipeline));
        const live = parents.liveAggregate(pipeline);
        const stop = live.subscribe(() => undefined);
        await live.ready;
        await db.transaction(async (tx) => {
          await tx(children).upsert({ _id: '0', ...staged });
          await tx(parents).upsert({ _id: '1', ...staged });
          expect(idsOf(await tx(parents).aggregate(pipeline))).toEqual(await fresh(tx as never));
        });
        await children.insert(later);
        const now = await fresh();
        for await (const data of live)
          if (JSON.stringify(idsOf(data)) === JSON.stringify(now)) break;
        const then = parents.at(backup);
        if (asked.own) expect(idsOf(await then.aggregate(pipeline))).toEqual(before);
        else expect((await then.aggregate(pipeline)).length).toBe(given.length);
        await then.close();
        stop();
        await db.close();
      },
    ),
    { numRuns: 60 },
  );
}, 240_000);
