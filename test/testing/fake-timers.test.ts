import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect, Database, type DatabaseClient } from '../../src/index.ts';
import {
  closeTestDatabases,
  FakeClock,
  testBrowser,
  testDatabase,
} from '../../src/testing/index.ts';

/** All that Jest's fake timers replace, and Vitest's; but `nextTick`, which Vitest itself needs. */
const JEST = [
  ...(['Date', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const),
];
const ORDERS = { name: 'orders', type: 'DOCUMENT_BASED' } as const;
const NOW = new Date('2030-03-01T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ toFake: [...JEST], now: NOW });
});

afterEach(async () => {
  await closeTestDatabases();
  vi.useRealTimers();
});

/** Calls of every kind: each must be answered although no timer fires. */
async function useAll(db: DatabaseClient): Promise<void> {
  const orders = new db.Collection<{ item: string; n: number }>({ ...ORDERS, indexes: ['item'] });
  const [lamp] = await orders.insertMany([
    { item: 'lamp', n: 1 },
    { item: 'book', n: 2 },
  ]);
  const _id = (lamp as { _id: string })._id;
  await orders.patch(_id, { $inc: { n: 1 } });
  await orders.modify(_id, async (order) => ({ ...order, n: order.n + 1 }));
  await db.transaction(async (tx) => {
    await tx(orders).patch(_id, { n: ((await tx(orders).get(_id))?.n ?? 0) + 1 });
  });
  const live = orders.live({ n: { $gt: 1 } }, { sort: { n: 1 } });
  const { data } = await live.ready;
  expect(data.map(({ item }) => item)).toEqual(['book', 'lamp']);
  for await (const { item } of orders) expect(['lamp', 'book']).toContain(item);
  const backup = await orders.createBackup();
  await orders.deleteMany({});
  await orders.loadBackup(backup);
  expect(await orders.count({ item: 'lamp' })).toBe(1);
  await db.save();
}

test('every call of a test database is answered', () => useAll(testDatabase()));

test('every call of Database and connect() is answered', async () => {
  const databases = [
    new Database({ name: `fake timers ${Math.random()}`, storage: 'memory' }),
    connect({ name: `fake timers ${Math.random()}`, storage: 'memory' }),
  ];
  for (const db of databases) {
    await useAll(db);
    await db.close();
  }
});

test('every call of two tabs is answered, and the end of the leader too', async () => {
  const browser = testBrowser();
  const [one, two] = [browser.openTab(), browser.openTab()];
  await one.ready;
  await useAll(two);
  await one.close();
  expect(await new two.Collection(ORDERS).count()).toBe(2);
});

test('a fake Date can be stored, found and comes back', async () => {
  const db = testDatabase();
  const orders = new db.Collection<{ at: Date }>({ ...ORDERS, indexes: ['at'] });
  await orders.insert({ at: new Date() });
  vi.setSystemTime(new Date('2030-03-02T12:00:00Z'));
  await orders.insert({ at: new Date() });
  expect(await orders.filter({ at: { $lt: new Date() } })).toMatchObject([{ at: NOW }]);
  await db.close();
  const again = testDatabase({ storage: db.disk });
  vi.useRealTimers();
  const stored = await new again.Collection<{ at: Date }>(ORDERS).find({});
  expect(stored?.at).toEqual(NOW);
  expect(stored?.at).toBeInstanceOf(Date);
});

test('stamps show the faked time', async () => {
  const db = testDatabase();
  const orders = new db.Collection({ ...ORDERS, indicate_created_at: true });
  expect((await orders.insert({}))._created_at).toEqual(NOW);
});

test('saves wait for the fake timers; save() does not', async () => {
  const db = testDatabase();
  const orders = new db.Collection({ ...ORDERS, save_timeout: 5 });
  await orders.insert({});
  await vi.advanceTimersByTimeAsync(4000);
  expect(db.status.unsaved).toBe(1);
  await orders.save();
  expect(db.status.unsaved).toBe(0);
});

test('a FakeClock is none of them', async () => {
  const clock = new FakeClock();
  const db = testDatabase({ clock });
  const orders = new db.Collection({ ...ORDERS, save_timeout: 5 });
  await orders.insert({});
  // Not the asynchronous one: it waits for each timer of databases that other files left open.
  vi.advanceTimersByTime(60_000);
  await orders.count();
  expect(db.status.unsaved).toBe(1);
  await clock.advance(5000);
  expect(db.status.unsaved).toBe(0);
});
