import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Account {
  n: number;
  text?: string;
}

afterEach(() => void vi.restoreAllMocks());

const open = ({ db }: Tab) =>
  new db.Collection<Account>({ name: 'accounts', type: 'DOCUMENT_BASED' });

/** A leader that has saved the accounts `a` and `b`, and another tab that runs transactions. */
async function twoTabs() {
  const world = new World(1);
  const browser = simulateBrowser(world);
  // What a transaction waits for before it runs again.
  vi.spyOn(systemClock, 'after').mockImplementation((ms, call) => world.after(ms, undefined, call));
  const leader = new Tab(0, browser);
  const theirs = open(leader);
  await world.hear(
    theirs.insertMany([
      { _id: 'a', n: 0 },
      { _id: 'b', n: 0 },
    ]),
  );
  await world.hear(leader.db.save());
  const { db } = new Tab(1, browser);
  const accounts = open(new Tab(2, browser));
  const own = new db.Collection<Account>({ name: 'accounts', type: 'DOCUMENT_BASED' });
  await world.hear(Promise.all([own.ready, accounts.ready]));
  return { world, storage: browser.storage, leader, db, accounts: own, elsewhere: accounts };
}

/** Lets time go by until a promise settles. */
async function settle<T>(world: World, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = () => {
    isSettled = true;
  };
  promise.then(settled, settled);
  const end = world.now + 120_000;
  while (!isSettled && world.now < end) await world.runUntil(world.now + 5);
  return promise;
}

test('runs again if the leader is lost, also where all that follows are errors that the function catches', async () => {
  const { world, leader, db, accounts, elsewhere } = await twoTabs();
  let runs = 0;
  const taken = db.transaction(async (tx) => {
    await tx(accounts).patch('a', { $inc: { n: 1 } });
    if (++runs === 1) leader.kill();
    const insert = tx(accounts).insert({ _id: 'b', n: 1 });
    return insert.catch((error: unknown) => (error as { code: string }).code);
  });
  expect(await settle(world, taken)).toBe('id_taken');
  expect((await settle(world, elsewhere.get('a')))?.n).toBe(1);
});

test('runs again if the leader is lost in the middle of an insertMany', async () => {
  const { world, leader, db, accounts, elsewhere } = await twoTabs();
  const text = 'x'.repeat(300_000);
  let runs = 0;
  const inserted = db.transaction((tx) => {
    if (++runs === 1) world.after(3, undefined, () => leader.kill());
    return tx(accounts).insertMany(Array.from({ length: 20 }, (_, n) => ({ n, text })));
  });
  expect(await settle(world, inserted)).toHaveLength(20);
  expect(runs).toBe(2);
  expect(await settle(world, elsewhere.count())).toBe(22);
});

test('runs again if the leader is lost before a reply is acknowledged, which waits for a save', async () => {
  const { world, storage, leader, db, accounts, elsewhere } = await twoTabs();
  // No journal has room for it.
  const text = 'x'.repeat(4_000_000);
  storage.weather.slowness = 1000;
  let runs = 0;
  const changed = db.transaction(async (tx) => {
    if (++runs === 1) {
      world.after(200, undefined, () => leader.kill());
      await Promise.all([
        accounts.insert({ _id: 'large', n: 0, text }),
        tx(accounts).patch('a', { $inc: { n: 1 } }),
      ]);
    } else await tx(accounts).patch('a', { $inc: { n: 1 } });
    await tx(accounts).patch('b', { $inc: { n: 1 } });
  });
  await settle(world, changed);
  const [a, b] = await settle(world, elsewhere.getMany(['a', 'b']));
  expect([a?.n, b?.n]).toEqual([1, 1]);
});
