import { expect, test, vi } from 'vitest';

test.each([1, 2])('each test begins with an empty database', async () => {
  const { orders } = await import('./app/shop.js');
  await orders.insert({ item: 'lamp' });
  expect(await orders.count()).toBe(1);
});

test('an order survives a reload', async () => {
  const before = await import('./app/shop.js');
  await before.orders.insert({ _id: 'a', item: 'lamp' });
  await before.db.close();

  vi.resetModules();
  const after = await import('./app/shop.js');
  expect(await after.orders.get('a')).toMatchObject({ item: 'lamp' });
});

test('files are stored', async () => {
  const { db, orders } = await import('./app/shop.js');
  await orders.insert({ _id: 'a', invoice: new Blob(['40 EUR']) });
  await db.close();

  vi.resetModules();
  const after = await import('./app/shop.js');
  const { invoice } = await after.orders.get('a');
  expect(await invoice.text()).toBe('40 EUR');
});

test('fake timers stop neither calls nor fake-indexeddb', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: new Date('2030-03-01') });
  const { orders } = await import('./app/shop.js');
  await orders.insert({ item: 'lamp', placed: new Date() });
  await orders.save();
  expect(await orders.find({})).toMatchObject({ placed: new Date('2030-03-01') });
});
