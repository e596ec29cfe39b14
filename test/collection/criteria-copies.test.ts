import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database, type DocumentCollection, type KeyValueCollection } from '../../src/index.ts';

let db: Database;
let things: DocumentCollection<Record<string, unknown>>;
let values: KeyValueCollection<unknown>;

beforeAll(async () => {
  db = new Database({ name: 'criteria copies', storage: 'memory' });
  things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  values = new db.Collection({ name: 'values', type: 'KEY_VALUE_BASED' });
  await things.insert({ _id: 'one', a: 1, b: new Date(0), c: { x: [1] }, list: [] });
  await values.set('list', [1]);
});
afterAll(() => db.close());

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const cyclic: Record<string, unknown> = {};
cyclic.a = cyclic;
class Person {
  name = 'Ada';
}
const liar = Object.create({ constructor: { name: 'Date' }, [Symbol.toStringTag]: 'Date' });
const sparse = new Array(4_000_000_000);
const inner = Object.assign(new Array(2), { 0: 1 });

const refused: [criteria: object, place: string][] = [
  [new Person(), 'params'],
  [cyclic, 'params.a'],
  [{ a: new Person() }, 'params.a'],
  [{ a: liar }, 'params.a'],
  [{ a: { $eq: Promise.resolve(1) } }, 'params.a.$eq'],
  [{ a: () => true }, 'params.a'],
  [{ a: { $eq: Symbol('x') } }, 'params.a.$eq'],
  [{ [Symbol('x')]: 1 }, 'params'],
  [JSON.parse('{"a": {"__proto__": 1}}'), 'params.a.__proto__'],
  [JSON.parse('{"a": {"$in": [{"b": {"__proto__": 1}}]}}'), 'params.a.$in[0].b.__proto__'],
  [nested(102) as object, `${'a.'.repeat(100)}…`],
  [{ a: { $eq: nested(102) } }, `a.$eq.${'a.'.repeat(98)}a…`.slice(0, 201)],
  [{ a: { $in: sparse } }, 'a.$in[0]'],
  [{ a: sparse }, 'a[0]'],
  [{ a: { $eq: [inner] } }, 'a.$eq[0][1]'],
];

test.each(refused)('criteria that no copy can have are refused: %#', async (criteria, place) => {
  await expect(things.count(criteria)).rejects.toMatchObject({ code: 'criteria_invalid' });
  const error: { place: string } = await things.count(criteria).catch((thrown) => thrown);
  expect(error.place.slice(0, 60)).toBe(place.slice(0, 60));
});

test('criteria of 100 levels are accepted', async () => {
  expect(await things.count(nested(100) as object)).toBe(0);
});

test('those of $pull and of items too', async () => {
  const changes = { $pull: { list: { $in: sparse } } };
  await expect(things.patch('one', changes)).rejects.toMatchObject({ code: 'criteria_invalid' });
  await expect(values.remove('list', { $in: sparse } as never)).rejects.toMatchObject({
    code: 'criteria_invalid',
  });
});

test('a getter runs once', async () => {
  let runs = 0;
  const criteria = {
    get a() {
      return ++runs;
    },
  };
  expect(await things.count(criteria)).toBe(1);
  expect(runs).toBe(1);
});

test('changing criteria after the call has no effect', async () => {
  const criteria = { a: { $in: [1] }, b: new Date(0), c: { x: [1] } };
  const counted = things.count(criteria);
  const live = things.liveCount(criteria);
  criteria.a.$in.pop();
  criteria.b.setTime(5);
  criteria.c.x.push(2);
  expect(await counted).toBe(1);
  expect((await live.ready).data).toBe(1);
});
