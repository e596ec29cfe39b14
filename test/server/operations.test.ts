import { expect, test } from 'vitest';
import { type Authorization, createHandler, memory } from '../../src/server/index.ts';

const DEVICE = 'device';
const BASE = { n: 1, name: 'pen', list: ['a'], owner: 'ada' };

/** A document that others have changed since a version, and a push on that. */
async function moved(authorization: Authorization = true, others: object = { n: 5 }) {
  const store = memory();
  const { version: base } = (
    await store.push('orders', [{ id: 'o', key: 'x.1', document: { _id: 'o', ...BASE } }])
  )[0] as { version: string };
  await store.push('orders', [
    { id: 'o', base, key: 'y.1', document: { _id: 'o', ...BASE, ...others } },
  ]);
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const handler = createHandler({ store, authorize: () => authorization, onError });
  let keys = 0;
  const push = async (operations: unknown, more: object = {}, document: object = BASE) => {
    const row = { id: 'o', base, key: `${DEVICE}.${++keys}`, operations, ...more };
    const rows = [{ ...row, document: { _id: 'o', ...document } }];
    const request = new Request('https://example.com/orders/push', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ rows }).replaceAll('"1e999"', '1e999'),
    });
    const response = await handler(request);
    expect(response.status).toBe(200);
    return ((await response.json()) as any).results[0];
  };
  const stored = async () => (await store.read('orders', ['o']))[0]?.document;
  return { store, push, stored, handler, errors };
}

test('GET tells that operations are applied, to whom may use the collection', async () => {
  const { handler } = await moved();
  const answer = await handler(new Request('https://example.com/sync/orders'));
  const abilities = { operations: true, stream: true, scopedStream: true };
  expect([answer.status, await answer.json()]).toEqual([200, abilities]);
  const closed = (await moved(false)).handler;
  expect((await closed(new Request('https://example.com/sync/orders'))).status).toBe(403);
});

test.each([
  [['$inc', 'n', 2], { n: 7 }],
  [['$mul', 'n', 2], { n: 10 }],
  [['$min', 'n', 2], { n: 2 }],
  [['$max', 'n', 9], { n: 9 }],
  [['$push', 'list', 'b'], { list: ['a', 'b'] }],
  [['$addToSet', 'list', 'a'], { list: ['a'] }],
  [['$pull', 'list', { $plain: { $in: ['a'] } }], { list: [] }],
  [['$inc', 'deep.er', 1], { deep: { er: 1 } }],
  [['$inc', 'new', { $bigint: 'a' }], { new: { $bigint: 'a' } }],
])('%j is applied to what others have made', async (operation, wanted) => {
  const { push, stored } = await moved();
  const result = await push([operation]);
  const document = { _id: 'o', ...BASE, n: 5, ...wanted };
  expect(result).toEqual({ version: expect.any(String), document });
  expect(await stored()).toEqual(document);
});

test('a push that comes again is answered as at first, and counts once', async () => {
  const { push, stored } = await moved();
  const first = await push([['$inc', 'n', 2]], { key: 'device.k' });
  const second = await push([['$inc', 'n', 2]], { key: 'device.k' });
  expect(second).toMatchObject({ version: first.version, document: { n: 7 } });
  expect(await stored()).toMatchObject({ n: 7 });
});

test('another push of the device on the same base is a conflict: it may repeat the first', async () => {
  const { push, stored } = await moved();
  await push([['$inc', 'n', 2]]);
  expect(await push([['$inc', 'n', 2]])).toMatchObject({ conflict: { document: { n: 7 } } });
  expect(await stored()).toMatchObject({ n: 7 });
});

test('a base that is not remembered is a conflict', async () => {
  const { push } = await moved();
  const more = { base: '7-unknown' };
  expect(await push([['$inc', 'n', 2]], more)).toMatchObject({ conflict: { document: { n: 5 } } });
});

test('each device of many is remembered, beyond the last pushes', async () => {
  const { push, store, stored } = await moved();
  await push([['$inc', 'n', 2]], { key: 'device.k' });
  for (let other = 0; other < 40; other++) {
    const [{ version = '' } = {}] = await store.read('orders', ['o']);
    const document = { ...(await stored()), _id: 'o', other };
    await store.push('orders', [{ id: 'o', base: version, key: `other${other}.1`, document }]);
  }
  expect(await push([['$inc', 'n', 2]], { key: 'device.k' })).toMatchObject({
    document: { n: 7, other: 39 },
  });
  expect(await stored()).toMatchObject({ n: 7 });
});

test.each([
  ['a value of another kind', { n: 'many' }, ['$inc', 'n', 1]],
  ['a number that is too large', { n: 1e308 }, ['$mul', 'n', 10]],
  ['an item of an array', { list: [{ n: 1 }] }, ['$inc', 'list.0.n', 1]],
  ['no array', { list: 'x' }, ['$push', 'list', 1]],
])('%s is a conflict, which the device decides', async (_, others, operation) => {
  const { push, stored } = await moved(true, others);
  expect(await push([operation])).toMatchObject({ conflict: { document: others } });
  expect(await stored()).toEqual({ _id: 'o', ...BASE, ...others });
});

const deep = JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`);

test.each([
  ['no list', {}],
  ['too many', new Array(101).fill(['$inc', 'n', 1])],
  ['an unknown operator', [['$set', 'n', 1]]],
  ['an operator of a prototype', [['constructor', 'n', 1]]],
  ['no operation', [null]],
  ['no path', [['$inc', 1, 1]]],
  ['an empty path', [['$inc', '', 1]]],
  ['a path to a prototype', [['$inc', '__proto__.polluted', 1]]],
  ['a prototype inside a path', [['$push', 'a.__proto__.b', 1]]],
  ['a huge path', [['$inc', 'a.'.repeat(100_000).concat('b'), 1]]],
  ['a position', [['$inc', 'list.$[].n', 1]]],
  ['a position of $push', [['$push', 'list', { $each: [1], $position: 0 }]]],
  ['an unknown modifier', [['$push', 'list', { $each: [1], $evil: 0 }]]],
  ['a text as a number', [['$inc', 'n', '1']]],
  ['a number that JSON has not', [['$inc', 'n', '1e999']]],
  ['a pattern', [['$pull', 'list', { $plain: { $regex: '(a+)+$' } }]]],
  ['an expression', [['$pull', 'list', { $plain: { $expr: true } }]]],
  ['a managed field', [['$inc', '_updated_at', 1]]],
  ['the id', [['$push', '_id', 1]]],
  ['a wrapper that lies', [['$max', 'n', { $date: 'never' }]]],
  ['an operand that is too deep', [['$push', 'list', deep]]],
])('%s is refused, and nothing is changed', async (_, operations) => {
  const { push, stored, errors } = await moved();
  expect(await push(operations)).toEqual({
    rejected: { reason: expect.stringMatching(/^The operations are invalid: .+\.$/s) },
  });
  expect(await stored()).toEqual({ _id: 'o', ...BASE, n: 5 });
  expect(errors).toEqual([]);
});

const REFUSED = { rejected: { reason: 'You may not write this document.' } };

test('what operations make must be what the user may write', async () => {
  const write = ({ n }: any) => n < 6;
  const { push, stored } = await moved({ write });
  expect(await push([['$inc', 'n', 2]])).toEqual(REFUSED);
  expect(await push([['$inc', 'n', 0.5]])).toMatchObject({ document: { n: 5.5 } });
  expect(await stored()).toMatchObject({ n: 5.5 });
});

test('nothing is applied to a document that the user may not see', async () => {
  const read = ({ owner }: any) => owner === 'ada';
  const { push, stored } = await moved({ read }, { owner: 'bob' });
  expect(await push([['$inc', 'n', 2]])).toEqual(REFUSED);
  expect(await push([['$max', 'owner', 'zoe']])).toEqual(REFUSED);
  expect(await stored()).toMatchObject({ n: 1, owner: 'bob' });
});

test('the document that is claimed beside operations is not stored', async () => {
  const { push, stored } = await moved();
  await push([['$inc', 'n', 2]], {}, { ...BASE, n: 1e6, name: 'mine', evil: true });
  expect(await stored()).toEqual({ _id: 'o', ...BASE, n: 7 });
});

test('a document that grows beyond what clients take is a conflict', async () => {
  const { push, stored } = await moved();
  const items = new Array(60).fill(['$push', 'list', 'x'.repeat(60_000)]);
  expect(await push(items)).toMatchObject({ document: { n: 5 } });
  for (let time = 0; time < 5; time++) await push(items, { key: `other${time}.1` });
  expect(JSON.stringify(await stored()).length).toBeLessThan(15_000_000);
});

test('long bigints are multiplied by the device, and keep no other request waiting', async () => {
  const n = { $bigint: 'f'.repeat(1_000_000) };
  const { push, stored } = await moved(true, { n });
  const times = new Array(30).fill(['$mul', 'n', { $bigint: 'f'.repeat(50_000) }]);
  expect(await push(times)).toMatchObject({ conflict: { id: 'o' } });
  expect(await stored()).toMatchObject({ n });
  expect(await push([['$mul', 'n', { $bigint: '10' }]], { key: 'other.1' })).toMatchObject({
    document: { n: { $bigint: `${n.$bigint}0` } },
  });
});

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const sorts = Array.from({ length: 100 }, () => [
  ...['$push', 'list'],
  { $plain: { $each: numbers(500), $sort: 1 } },
]);

test.each<[string, unknown[][], number]>([
  ['a sort after each of many', sorts, 10],
  ['long criteria for each item', [['$pull', 'list', { $plain: { $nin: numbers(3000) } }]], 20_000],
  ['many on a large document', numbers(100).map((at) => ['$push', 'list', at]), 40_000],
])('%s is left to the device, and keeps no other request waiting', async (_, operations, items) => {
  const { push, stored } = await moved(true, { list: numbers(items) });
  expect(await push(operations)).toMatchObject({ conflict: { id: 'o' } });
  expect(((await stored()) as any).list).toHaveLength(items);
  expect(await push([['$inc', 'n', 2]], { key: 'other.1' })).toMatchObject({ document: { n: 3 } });
});
