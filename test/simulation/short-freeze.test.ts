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
