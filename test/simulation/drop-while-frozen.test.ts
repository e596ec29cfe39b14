import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) =>
  new db.Collection({ name: 'log', type: 'DOCUMENT_BASED', activate_drop_method: true });

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

test.each([false, true])(
  'what a page changes through a handle whose collection was dropped while it rested makes no collection; another leads by then: %s',
  async (replaced) => {
    const world = new World(1);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    const log = open(leader);
    await world.hear(log.ready);
    const rested = new Tab(1, browser);
    const old = open(rested);
    await world.hear(old.insert({ _id: 'old' }));
    rested.rest(6000);
    await world.runUntil(3000);
    await world.hear(log.Drop());
    const last = replaced ? new Tab(2, browser) : leader;
    if (replaced) leader.close();
    await world.runUntil(12_000);
    const codeOf = (asked: Promise<unknown>) =>
      world.hear(asked.catch((error: { code?: string }) => error.code));
    const change = { _id: 'late' };
    const dropped = 'collection_dropped';
    expect(await codeOf(old.insert(change))).toBe(dropped);
    expect(await codeOf(rested.db.transaction((tx) => tx(old).insert(change)))).toBe(dropped);
    expect(await world.hear(last.db.collections())).toEqual([]);
    // One that is constructed now is another one.
    await world.hear(open(rested).insert({ _id: 'new' }));
    expect(await world.hear(open(last).filter({}))).toMatchObject([{ _id: 'new' }]);
  },
);
