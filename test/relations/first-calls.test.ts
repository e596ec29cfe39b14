import { expect, test } from 'vitest';
import type { DocumentCollection } from '../../src/index.ts';
import { testDatabase } from '../../src/testing/index.ts';

interface Fields {
  to?: string;
  n?: number;
}
type Collection = DocumentCollection<Fields>;

/** Three collections in a circle of relations: their code loads with the first calls. */
function open() {
  const db = testDatabase();
  const opened = (name: string, next: () => Collection): Collection =>
    new db.Collection<Fields>({
      ...{ name, type: 'DOCUMENT_BASED' },
      relations: { next: { many: next, to: 'to' } } as never,
    }) as never;
  const a = opened('a', () => b);
  const b = opened('b', () => c);
  const c = opened('c', () => a);
  return { db, a, b, c };
}

const include = { include: { next: true } } as never;
const deep = { include: { next: { include: { next: { include: { next: true } } } } } } as never;
const found = { next: { $none: { n: 1 } } } as never;

test.each<[string, (all: ReturnType<typeof open>) => readonly PromiseLike<unknown>[]]>([
  ['two', ({ a, b, c }) => [a.filter({}, include), c.filter({}, include), b.filter({}, include)]],
  ['nested', ({ a, c }) => [a.filter({}, deep), c.filter({}, deep), a.count(found)]],
  [
    'changing',
    ({ a, b, c }) => [
      ...[a, b, c].map((one) => one.patchMany(found, { n: 2 })),
      ...[c, b, a].map((one) => one.deleteMany(found)),
    ],
  ],
  [
    'live',
    ({ a, b, c }) => [
      a.live({}, deep).ready,
      c.live(found).ready,
      b.filter({}, deep),
      c.filter(found),
      a.aggregate([{ $match: found }]),
    ],
  ],
  [
    'large, behind loaded code',
    ({ a, b, c }) =>
      [a, b, c].map(async (one) => {
        await one.ready;
        const many = one.insertMany(Array.from({ length: 5000 }, () => ({ n: 1 })));
        await Promise.all([one.filter(found, deep), many]);
      }),
  ],
])('calls of collections that lead to each other are answered: %s', async (_, calls) => {
  await Promise.all(calls(open()));
});

test('a call reads what was written to its partner before', async () => {
  const { a, b } = open();
  b.filter({}, include);
  const inserted = b.insertMany([{ to: 'x' }, { to: 'x' }]);
  const first = a.insert({ _id: 'x' });
  const read = a.filter({}, include);
  const later = a.insert({ _id: 'y' });
  expect(await read).toMatchObject([{ _id: 'x', next: [{ to: 'x' }, { to: 'x' }] }]);
  await Promise.all([inserted, first, later]);
});

test('a pipeline reads the collection that has the name now', async () => {
  const db = testDatabase();
  const open = () =>
    new db.Collection<Fields>({
      ...{ name: 'people', type: 'DOCUMENT_BASED', activate_drop_method: true },
    });
  const jobs = new db.Collection<Fields>({ name: 'jobs', type: 'DOCUMENT_BASED' });
  const people = open();
  await jobs.insert({ _id: 'roof', to: 'ada' });
  await people.insert({ _id: 'eve' });
  await people.Drop();
  await open().insert({ _id: 'ada' });
  const lookup = { from: 'people', localField: 'to', foreignField: '_id', as: 'people' };
  expect(await jobs.aggregate([{ $lookup: lookup }])).toMatchObject([
    { _id: 'roof', people: [{ _id: 'ada' }] },
  ]);
});
