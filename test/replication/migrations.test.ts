import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database, type DatabaseClient, type DocumentCollection } from '../../src/index.ts';
import { replicate } from '../../src/replication/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { MemoryRemote } from './memory-remote.ts';

let remote: MemoryRemote;
let names = 0;
const open = new Set<() => Promise<void>>();

beforeEach(() => {
  remote = new MemoryRemote();
});
afterEach(async () => {
  for (const end of open) await end();
  open.clear();
});

const NEWER = {
  version: 2,
  migrate: {
    2: ({ count, ...order }: Record<string, any>) =>
      order.item === 'gone' ? undefined : { ...order, amount: count * 10 },
  },
};

/** A device whose orders replicate, with older or newer code. */
function device(db: DatabaseClient, options: object = {}) {
  const orders: DocumentCollection<any> = new db.Collection<any>({
    ...{ name: 'orders', type: 'DOCUMENT_BASED', ...options },
  });
  const sync = replicate(orders, { remote });
  const end = async () => {
    await sync.stop();
    await db.close();
  };
  open.add(end);
  const close = async () => {
    open.delete(end);
    await end();
  };
  return { orders, sync, close, settled: () => sync.settled({ timeout: 60_000 }) };
}

test.each([true, false])(
  'migrated documents stay equal to the server, changed ones stay to be pushed, caching %s',
  async (caching) => {
    const database = { name: `migrated ${++names}`, storage: faultyDriver() };
    for (const item of ['lamp', 'book', 'gone']) remote.write(item, { item, count: 1 });
    const first = device(new Database(database), { caching });
    await first.orders.insert({ _id: 'mine', item: 'mine', count: 2 });
    await first.settled();
    await first.close();
    const db = new Database(database);
    const offline: DocumentCollection<any> = new db.Collection<any>({
      ...{ name: 'orders', type: 'DOCUMENT_BASED', caching },
    });
    await offline.patch('book', { count: 5 });
    await offline.insert({ _id: 'new', item: 'new', count: 3 });
    await db.close();
    const pushes = remote.pushes.length;
    const newer = new Database(database);
    const migrated: DocumentCollection<any> = new newer.Collection<any>({
      ...{ name: 'orders', type: 'DOCUMENT_BASED', caching, ...NEWER },
    });
    const amounts = async (orders: DocumentCollection<any>) =>
      Object.fromEntries((await orders.filter({})).map(({ _id, amount }) => [_id, amount]));
    const expected = { lamp: 10, book: 50, mine: 20, new: 30 };
    expect(await amounts(migrated)).toEqual(expected);
    await newer.close();
    const second = device(new Database(database), { caching, ...NEWER });
    await second.settled();
    expect(await amounts(second.orders)).toEqual(expected);
    const pushed = remote.pushes.slice(pushes).flat();
    expect(new Set(pushed.map(({ id }: { id: string }) => id))).toEqual(new Set(['book', 'new']));
    expect(remote.document('book')).toMatchObject({ amount: 50 });
    expect(remote.document('lamp')).toMatchObject({ count: 1 });
    expect(remote.document('gone')).toMatchObject({ item: 'gone' });
  },
);

test('a replication goes on from its checkpoint behind a migration', async () => {
  const database = { name: `migrated ${++names}`, storage: faultyDriver() };
  remote.write('lamp', { item: 'lamp', count: 1 });
  const first = device(new Database(database));
  await first.settled();
  await first.close();
  const second = device(new Database(database), NEWER);
  await second.settled();
  remote.write('later', { item: 'later', amount: 7 });
  await second.sync.settled({ timeout: 60_000 });
  expect(await second.orders.filter({})).toMatchObject([
    { _id: 'lamp', amount: 10 },
    { _id: 'later', amount: 7 },
  ]);
  await second.orders.patch('lamp', { amount: 11 });
  await second.settled();
  expect(remote.document('lamp')).toMatchObject({ item: 'lamp', amount: 11 });
});
