import { afterEach, describe, expect, test } from 'vitest';
import { http } from '../../src/replication/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { closeDevices } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';
import { phones, settled } from './phone.ts';

afterEach(closeDevices);

const AT = 1_764_374_400_000;

test.each([
  ['a time that $max raised', { $max: { at: AT + 5 } }, AT, AT + 500],
  ['a time that $min lowered', { $min: { at: AT - 5 } }, AT, AT - 500],
  ['a large counter', { $inc: { at: 1 } }, 5e9, 5e9 + 3],
  ['a large product', { $mul: { at: 2 } }, 5e9, 1e10 + 4],
])('what was set after %s counts, however near it is', async (_, changes, before, value) => {
  const [a, b] = await phones(new MemoryRemote());
  await a.orders.insert({ _id: 'o', at: before, n: 1 });
  await settled(a, b);
  await b.orders.patch('o', { n: 2 });
  await b.settled();
  await a.orders.patch('o', changes);
  await a.orders.patch('o', { at: value });
  expect(await settled(a, b)).toMatchObject({ o: { at: value, n: 2 } });
});

test('fractions that add up to another last digit are still sums', async () => {
  const [a, b] = await phones(new MemoryRemote());
  await a.orders.insert({ _id: 'o', at: 0.1 });
  await settled(a, b);
  await b.orders.patch('o', { $inc: { at: 1 } });
  await b.settled();
  for (const by of [0.2, 0.3, 0.4]) await a.orders.patch('o', { $inc: { at: by } });
  const { o } = (await settled(a, b)) as { o: { at: number } };
  expect(o.at).toBeCloseTo(2, 12);
});

describe.each([
  ['update', (orders: any) => orders.update('o', { list: ['new'], n: 1 }), ['new']],
  ['delete', (orders: any) => orders.delete('o'), ['a']],
])('what was replaced by %s after a push that never arrived', (_, replace, list) => {
  test('is not made by asking for the push', async () => {
    const handler = createHandler({ store: memory(), authorize: () => true });
    const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));
    const url = 'https://example.com/orders';
    const [a, b] = await phones(http({ url, fetch: fetch as never }));
    await a.orders.insert({ _id: 'o', list: ['a'], n: 1 });
    await settled(a, b);
    await a.orders.patch('o', { $push: { list: 'gone' } });
    await a.attempt('request');
    await replace(a.orders);
    await b.orders.patch('o', { n: 2 });
    await b.settled();
    for (const one of [a, b, a]) await one.settled();
    expect(await a.orders.get('o')).toMatchObject({ list, n: 2 });
    expect(await b.orders.get('o')).toEqual(await a.orders.get('o'));
  });
});

test('a deletion beside a push of operations does not remove what others have changed', async () => {
  const handler = createHandler({ store: memory(), authorize: () => true });
  let meanwhile: (() => Promise<unknown>) | undefined;
  const fetch = async (url: string, init: RequestInit) => {
    const response = await handler(new Request(url, init));
    const act = url.endsWith('/push') ? meanwhile : undefined;
    if (act) meanwhile = undefined;
    await act?.();
    return response;
  };
  const [a, b] = await phones(http({ url: 'https://example.com/orders', fetch: fetch as never }));
  await a.orders.insert({ _id: 'o', list: ['a'], n: 1 });
  await settled(a, b);
  await b.orders.patch('o', { n: 2 });
  await b.settled();
  await a.orders.patch('o', { $push: { list: 'b' } });
  a.lags = true;
  // The server has applied the push to what `b` has changed.
  meanwhile = () => a.orders.delete('o');
  await a.settled();
  a.lags = false;
  for (const one of [a, b, a]) await one.settled();
  expect(a.device.sync.conflicts()).toMatchObject([{ id: 'o', local: undefined }]);
  expect(await b.orders.get('o')).toMatchObject({ list: ['a', 'b'], n: 2 });
  expect(await a.orders.get('o')).toEqual(await b.orders.get('o'));
});
