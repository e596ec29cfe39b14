/** @jest-environment jsdom */
import { testDatabase } from 'cairndb/testing';
import { db, notes } from './app/notes.js';
import { openOrders } from './app/orders.js';

// Jest lets no module load between two tests: an app's own database loads before the first.
beforeAll(() => db.ready);

test('a list on the screen follows the orders', async () => {
  const orders = openOrders(testDatabase());
  const live = orders.live({ done: false });
  live.subscribe(({ data }) => {
    document.body.textContent = data.map(({ item }) => item).join();
  });
  await live.ready;
  await orders.insert({ item: 'lamp', done: false });
  expect(document.body.textContent).toBe('lamp');
});

test("the app's own database is in memory", async () => {
  await notes.insert({ text: 'buy milk' });
  expect(await notes.count()).toBe(1);
  expect(db.status).toMatchObject({ engine: 'thread', storage: 'memory' });
});
