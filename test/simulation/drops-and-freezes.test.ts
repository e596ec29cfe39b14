import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) =>
  new db.Collection({ name: 'log', type: 'DOCUMENT_BASED', activate_drop_method: true });

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed);

test.for(SEEDS)(
  'what others made of a collection while a page rested is not dropped by what it asked before, seed %i',
  async (seed) => {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    const old = open(leader).insert({ _id: 'old' });
    await world.runUntil(1000);
    await old;
    const frozen = new Tab(1, browser);
    const log = open(frozen);
    await Promise.all([log.ready, world.runUntil(2000)]);

    const dropped = log.Drop().catch((error: { code: string }) => error.code);
    // Sent, and not answered yet.
    await world.runUntil(2000.001);
    frozen.rest(6000);
    await world.runUntil(3000);
    const made = open(leader).insert({ _id: 'new' });
    const saved = made.then(() => leader.db.save());
    await world.runUntil(4000);
    await saved;
    await world.runUntil(12_000);
    expect(await dropped).toBe('answer_lost');
    const found = open(leader).filter({});
    await world.runUntil(13_000);
    // The old one is there where the page left before it was dropped.
    expect((await found).map(({ _id }) => _id)).toContain('new');
  },
);

test.each([false, true])(
  'what a page made of a collection before it rested is not made in what has the name when it is back; another leads by then: %s',
  async (replaced) => {
    const world = new World(1);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    const log = open(leader);
    await Promise.all([log.ready, world.runUntil(1000)]);
    const frozen = new Tab(1, browser);
    const old = open(frozen).insert({ _id: 'old' });
    await world.runUntil(2000);
    await old;
    frozen.rest(6000);
    await world.runUntil(3000);
    const dropped = log.Drop();
    await world.runUntil(4000);
    expect(await dropped).toBe(true);
    const made = open(leader).insert({ _id: 'new' });
    const saved = made.then(() => leader.db.save());
    await world.runUntil(5000);
    await saved;
    const last = replaced ? new Tab(2, browser) : leader;
    if (replaced) leader.close();
    await world.runUntil(12_000);
    const found = open(last).filter({});
    await world.runUntil(15_000);
    expect((await found).map(({ _id }) => _id)).toEqual(['new']);
  },
);
