import { FakeClock, testDatabase } from 'cairndb/testing';
import { openOrders, placeOrder } from './app/orders.js';

let db;
let orders;

beforeEach(() => {
  db = testDatabase();
  orders = openOrders(db);
});

test('places an order', async () => {
  expect(await placeOrder(orders, 'lamp')).toBe('saved');
  expect(await orders.filter({ done: false })).toMatchObject([{ item: 'lamp' }]);
});

test('says that the disk is full, and keeps the order', async () => {
  db.disk.fail();
  expect(await placeOrder(orders, 'lamp')).toMatch('disk is full');
  expect(await orders.count()).toBe(1);

  db.disk.repair();
  await orders.save();
  expect(db.status.unsaved).toBe(0);
});

test('saves five seconds after the first change', async () => {
  const clock = new FakeClock('2030-03-01T12:00');
  const db = testDatabase({ clock });
  await openOrders(db).insert({ item: 'lamp', done: false });
  expect(db.status.unsaved).toBe(1);

  await clock.advance(5000);
  expect(db.status.unsaved).toBe(0);
});
