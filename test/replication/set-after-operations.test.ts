import { afterEach, expect, test } from 'vitest';
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
