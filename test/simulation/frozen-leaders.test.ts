import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

// Up to two seconds a leader does not know that it was silent, and appends without looking at the
// epoch.
test('a leader that is frozen for less than two seconds is not replaced, even where messages were lost', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const wait = (ms: number) => world.runUntil(world.now + ms);
    const leader = new Tab(0, browser);
    const log = new leader.db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' });
    await Promise.all([log.ready, wait(1000)]);
    const follower = new Tab(1, browser);
    await Promise.all([follower.db.ready, wait(1000)]);
    // The follower misses what it is told meanwhile, and notices with what it is told next.
    follower.freeze(100);
    await Promise.all([log.set('x', 1), wait(110)]);
    await Promise.all([log.set('y', 2), wait(0.01)]);
    leader.freeze(1900);
    await wait(2000);
    expect([seed, leader.db.status.leader]).toEqual([seed, true]);
  }
});

test('a leader that misses a question is not replaced, and is found all the same', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await Promise.all([leader.db.ready, world.runUntil(1000)]);
    leader.freeze(100);
    const follower = new Tab(1, browser);
    const ready = follower.db.ready;
    await world.runUntil(10_000);
    await ready;
    expect([seed, leader.db.status.leader]).toEqual([seed, true]);
  }
});

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

/** A save that failed is tried again after so long. */
const RETRY_MS = 500;

const open = ({ db }: Tab) =>
  new db.Collection({
    name: 'log',
    type: 'DOCUMENT_BASED',
    caching: false,
    save_timeout: 0.2,
  });

test('a leader that cannot save, is frozen and returns changes nothing that the next leader has read', async () => {
  for (const seed of SEEDS) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const first = new Tab(0, browser);
    const log = open(first);
    await Promise.all([log.ready, world.runUntil(1000)]);
    const told = log.insert({ _id: 'one' });
    const { weather } = browser.storage;
    weather.failures = 1;
    let failed = Number.POSITIVE_INFINITY;
    first.db.on('error', () => {
      failed = Math.min(failed, world.now);
      weather.failures = 0;
      weather.slowness = 200;
    });
    await world.runUntil(1500);
    await told;
    // It may have been stored all the same. What is to find out, as it is tried again, is under
    // way.
    await world.runUntil(failed + RETRY_MS + 20 + seed);
    first.rest(4000);
    await world.runUntil(world.now + 100);
    // It has read which segments there are, and none of their documents.
    const opened = open(new Tab(1, browser));
    await Promise.all([opened.ready, world.runUntil(world.now + 2000)]);
    await world.runUntil(world.now + 60_000);
    const found = opened.filter({}).catch((error: Error) => error.message);
    await world.runUntil(world.now + 10_000);
    expect([seed, await found]).toMatchObject([seed, [{ _id: 'one' }]]);
  }
});

// The epochs of the new database begin at 1 again.
test('a page that returns after another has deleted its database does not steal from the new leader', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    for (let id = 0; id < 3; id++) {
      const { db } = new Tab(id, browser);
      const log = new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' });
      // A leader claims its epoch with its first write.
      await world.hear(log.set('n', id), 3000);
      await world.hear(db.close(), 3000);
    }
    const cached = new Tab(3, browser);
    await world.hear(cached.db.ready, 3000);
    const destroyer = new Tab(4, browser);
    cached.rest(20_000);
    await world.hear(destroyer.db.ready, 3000);
    await world.hear(destroyer.db.destroy(), 10_000);
    const leader = new Tab(5, browser);
    await world.hear(leader.db.ready, 3000);
    const leads = new Set<boolean | undefined>();
    await world.runUntil(world.now + 30_000, () => {
      leads.add(leader.db.status.leader);
      return false;
    });
    expect([seed, ...leads]).toEqual([seed, true]);
    expect(cached.db.status).toMatchObject({
      state: 'failed',
      last_error: { code: 'database_destroyed' },
    });
  }
});
