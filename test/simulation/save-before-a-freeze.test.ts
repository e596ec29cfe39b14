import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

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
