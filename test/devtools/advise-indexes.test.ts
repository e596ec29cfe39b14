import { expect, test } from 'vitest';
import {
  adviseIndexes,
  costsOfRelations,
  type QueryCost,
} from '../../src/devtools/advise-indexes.ts';
import { InspectedDatabase } from '../../src/devtools/inspect/inspected-database.ts';
import { arrayPathsIn } from '../../src/devtools/inspect/query-log.ts';
import { Database, type IndexOption } from '../../src/index.ts';

const scan = { kind: 'scan', exact: false, ordered: true } as const;

const cost = (params: unknown, more: Partial<QueryCost> = {}): QueryCost => ({
  ...{ collection: 'people', params, plan: scan, documents_examined: 14_000, returned: 20 },
  ...more,
});

const declared = (...costs: QueryCost[]) => adviseIndexes(costs).map(({ index }) => index);

test('a scan for few documents is advised against, with the numbers', () => {
  const [advice] = adviseIndexes([cost({ region: 'north', age: { $gte: 18 } })]);
  expect(advice).toEqual({
    collection: 'people',
    index: { fields: ['region', 'age'] },
    message: "14,000 documents examined for 20: declare { fields: ['region', 'age'] }",
    documents_examined: 14_000,
    returned: 20,
  });
});

test('equal values come first, then the sort order, then one range', () => {
  const params = { age: { $gte: 18 }, region: 'north', name: /^Os/ };
  expect(declared(cost(params, { sort: { city: 1 } }))).toEqual([
    { fields: ['region', 'city', 'age'] },
  ]);
  expect(declared(cost({ $and: [{ a: { $in: [1, 2] } }, { b: null }] }))).toEqual([
    { fields: ['b', 'a'] },
  ]);
  expect(declared(cost({}, { sort: { a: 1, b: -1 } }))).toEqual([]);
  expect(declared(cost({}, { sort: { 'a.b': -1 } }))).toEqual([{ fields: 'a.b' }]);
});

test('an index gets the collation of its queries, which no other serves', () => {
  const collation = { locale: 'en', strength: 2 } as const;
  const costs = [
    cost({ name: 'ADA' }, { collation }),
    cost({ name: 'ADA', age: 1 }, { collation }),
    cost({ name: 'ADA' }, { collation: 'sv', indexes: [] }),
    cost({ name: 'ADA' }),
  ];
  expect(declared(...costs)).toEqual([
    { fields: ['name', 'age'], collation },
    { fields: 'name', collation: 'sv' },
    { fields: 'name' },
  ]);
  expect(adviseIndexes(costs).map(({ message }) => message.slice(message.indexOf('{')))).toEqual([
    "{ fields: ['name', 'age'], collation: { locale: 'en', strength: 2 } }",
    "{ fields: 'name', collation: 'sv' }",
    "{ fields: 'name' }",
  ]);
});

test('arrays need a multi index of one field', () => {
  const arrays = arrayPathsIn([{ tags: ['a'], items: [{ sku: 1 }], name: 'x' }]);
  expect([...arrays]).toEqual(['tags', 'items', 'items.sku']);
  expect(declared(cost({ tags: 'a' }, { arrays }))).toEqual([{ fields: 'tags', multi: true }]);
  expect(declared(cost({ tags: 'a', name: 'x' }, { arrays }))).toEqual([{ fields: 'name' }]);
  expect(declared(cost({ labels: { $all: ['a'] } }))).toEqual([{ fields: 'labels', multi: true }]);
});

test('each branch of $or needs its index', () => {
  expect(declared(cost({ $or: [{ a: 1 }, { b: 2 }] }))).toEqual([{ fields: 'a' }, { fields: 'b' }]);
  expect(declared(cost({ $or: [{ a: 1 }, { b: { $ne: 2 } }] }))).toEqual([]);
});

test('there is no advice where no index helps, or none is needed', () => {
  expect(declared(cost(() => true))).toEqual([]);
  expect(declared(cost({ a: { $ne: 1 }, b: /os/, c: /^os/i, d: { $exists: true } }))).toEqual([]);
  // No index serves these: the text behind ^ may be missing.
  for (const a of [/^os|x/, /^o*s/, /^o?s/, /^o{0,1}s/, /^os/u])
    expect(declared(cost({ a }))).toEqual([]);
  expect(declared(cost({ a: { $regex: '^os|x' } }))).toEqual([]);
  expect(declared(cost({ a: { $regex: '^\\/os' } }))).toEqual([{ fields: 'a' }]);
  expect(declared(cost({ a: 1 }, { documents_examined: 150 }))).toEqual([]);
  expect(declared(cost({ a: 1 }, { returned: 13_000 }))).toEqual([]);
  expect(declared(cost({ a: 1 }, { indexes: [['a', 'b']] }))).toEqual([]);
});

test('an index that begins with the fields of another serves both', () => {
  const advice = adviseIndexes([
    cost({ region: 'north' }, { runs: 3 }),
    cost({ region: 'north', age: { $lt: 9 } }),
    cost({ region: 'north' }, { collection: 'cities' }),
  ]);
  expect(advice.map(({ collection, index }) => [collection, index.fields])).toEqual([
    ['people', ['region', 'age']],
    ['cities', 'region'],
  ]);
  expect(advice[0]?.documents_examined).toBe(4 * 14_000);
});

test('the advised index is used, and examines what it returns', async () => {
  const db = new Database({ name: 'advised', storage: 'memory' });
  const rows = Array.from({ length: 1000 }, (_, n) => ({ region: `r${n % 10}`, age: n % 100, n }));
  const options = { sort: { age: 1 }, limit: 20 } as const;
  const params = { region: 'r3', age: { $gte: 20 } };
  const open = async (indexes: { fields: string | readonly string[] }[]) => {
    const name = `people ${indexes.length}`;
    const people = new db.Collection<(typeof rows)[number]>({
      name,
      type: 'DOCUMENT_BASED',
      indexes,
    });
    await people.insertMany(rows);
    return people.explain(params, options);
  };
  const before = await open([]);
  const { sort } = options;
  const [advice] = adviseIndexes([{ collection: 'people', params, sort, ...before }]);
  const after = await open([advice?.index ?? { fields: 'n' }]);
  expect(before.documents_examined).toBe(1000);
  expect(after).toMatchObject({ plan: { kind: 'index', ordered: true }, returned: 20 });
  expect(after.documents_examined).toBeLessThanOrEqual(20);
  await db.close();
});

test('a log of queries advises what serves them in their collation', async () => {
  const db = new Database({ name: 'logged', storage: 'memory' });
  const collation = { locale: 'en', strength: 2 } as const;
  const open = (indexes: IndexOption[]) =>
    new db.Collection<{ name: string }>({ name: 'people', type: 'DOCUMENT_BASED', indexes });
  const people = open([]);
  await people.insertMany(Array.from({ length: 500 }, (_, n) => ({ name: `Name ${n}` })));
  const inspected = await InspectedDatabase.of(db);
  const { queries } = inspected;
  await people.find({ name: 'NAME 7' }, { collation });
  await people.find({ name: 'Name 7' });
  await queries.explainAll();
  const advised = queries.advice.map(({ index }) => index);
  expect(advised).toEqual([{ fields: 'name', collation }, { fields: 'name' }]);
  const indexed = open(advised as IndexOption[]);
  const { plan } = await indexed.explain({ name: 'NAME 7' }, { collation });
  expect(plan).toMatchObject({ kind: 'index', index: 'name (en 2)' });
  // They are declared.
  expect(queries.advice).toEqual([]);
  inspected.close();
  await db.close();
});

test('a partial index is advised where all runs ask for what few documents have', () => {
  const params = { state: 'open', owner: 'ada' };
  const where = { state: 'open' };
  const [advice] = adviseIndexes([cost(params, { constant: { where, share: 0.03 } })]);
  expect(advice?.index).toEqual({ fields: 'owner', where });
  expect(advice?.message).toBe(
    "14,000 documents examined for 20: declare { fields: 'owner', where: { state: 'open' } }, which has 3 % of the documents",
  );
  const most = { where, share: 0.8 };
  expect(declared(cost(params, { constant: most }))).toEqual([{ fields: ['state', 'owner'] }]);
  const all = { where: { state: 'open', 'a.b': true }, share: 0.01 };
  expect(declared(cost({ state: 'open', 'a.b': true }, { constant: all }))).toEqual([
    { fields: ['state', 'a.b'], where: all.where },
  ]);
});

test('a relation without an index on the path of its partners counts', () => {
  const plan = { kind: 'scan', exact: false, ordered: true } as const;
  const found = { collection: 'visits', plan, keys_examined: 0, documents_examined: 9000 };
  const relations = [
    { ...found, relation: 'visits', use: 'include', returned: 3, missing_index: 'job_id' },
    { ...found, relation: 'others', use: 'include', returned: 3 },
  ] as const;
  const advice = adviseIndexes(costsOfRelations(relations, 2));
  expect(advice).toMatchObject([{ collection: 'visits', index: { fields: 'job_id' } }]);
});
