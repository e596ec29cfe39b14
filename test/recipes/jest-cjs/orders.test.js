import { testBrowser, testDatabase } from 'cairndb/testing';
import { openOrders, placeOrder } from './app/orders.js';

let db;
let orders;

beforeEach(() => {
  db = testDatabase(); // Jest closes it after the test
  orders = openOrders(db);
});

afterEach(() => {
  jest.useRealTimers();
});

test('places an order', async () => {
  expect(await placeOrder(orders, 'lamp')).toBe('saved');
  expect(await orders.filter({ done: false })).toMatchObject([{ item: 'lamp' }]);
});

test('says that the disk is full, and keeps the order', async () => {
  db.disk.fail();
  expect(await placeOrder(orders, 'lamp')).toMatch('disk is full');
  expect(await orders.count()).toBe(1);
});

test('fake timers stop no call', async () => {
  jest.useFakeTimers({ now: new Date('2030-03-01') });
  const { _created_at } = await orders.insert({ item: 'lamp', done: false, placed: new Date() });
  expect(_created_at).toEqual(new Date('2030-03-01'));
  expect(await orders.count({ placed: { $lte: new Date() } })).toBe(1);

  expect(db.status.unsaved).toBe(1);
  await jest.advanceTimersByTimeAsync(5000);
  await orders.save();
  expect(db.status.unsaved).toBe(0);
});

test('two tabs share the orders', async () => {
  const browser = testBrowser();
  const [mine, theirs] = [browser.openTab(), browser.openTab()].map(openOrders);
  await mine.insert({ item: 'lamp', done: false });
  expect(await theirs.count()).toBe(1);
});
