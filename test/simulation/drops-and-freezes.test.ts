import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab, name = 'log') =>
  new db.Collection<object>({ name, type: 'DOCUMENT_BASED', activate_drop_method: true });

/** A collection whose changes are acknowledged long before they are saved. */
const unsaved = ({ db }: Tab, name: string) =>
  new db.Collection<object>({
    ...{ name, type: 'DOCUMENT_BASED' },
    ...{ save_timeout: 3600, save_directly_after: 1_000_000 },
  });

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
    await world.hear(old.ready);
    const seen = old.liveCount();
    const codes: unknown[] = [];
    seen.subscribe(({ error }) => error && codes.push((error as { code?: string }).code));
    await world.hear(seen.ready);
    rested.rest(6000);
    await world.runUntil(3000);
    await world.hear(log.Drop());
    const last = replaced ? new Tab(2, browser) : leader;
    if (replaced) leader.close();
    await world.runUntil(12_000);
    const codeOf = (asked: Promise<unknown>) =>
      world.hear(asked.catch((error: { code?: string }) => error.code));
    const dropped = 'collection_dropped';
    expect(await codeOf(old.insert({ _id: 'late' }))).toBe(dropped);
    expect(await codeOf(rested.db.transaction((tx) => tx(old).insert({})))).toBe(dropped);
    expect(await codeOf(old.count())).toBe(dropped);
    expect(await codeOf(old.Drop())).toBe(dropped);
    expect(codes).toEqual([dropped]);
    expect(await world.hear(last.db.collections())).toEqual([]);
    // One that is constructed now is another one, which no older handle drops.
    await world.hear(open(rested).insert({ _id: 'new' }));
    expect(await codeOf(old.Drop())).toBe(dropped);
    expect(await world.hear(open(last).filter({}))).toMatchObject([{ _id: 'new' }]);
  },
);

test('what a frozen leader had acknowledged before others renamed its collection is in that', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const frozen = new Tab(0, browser);
  const [old, beside] = [unsaved(frozen, 'log'), unsaved(frozen, 'beside')];
  await world.hear(old.insert({ _id: 'saved' }));
  await world.hear(frozen.db.save());
  await world.hear(old.insert({ _id: 'alone' }));
  await world.hear(old.insertMany([{ _id: 'part 0' }, { _id: 'part 1' }]));
  const together = frozen.db.transaction(async (tx) => {
    await tx(old).insert({ _id: 'together' });
    await tx(beside).insert({ _id: 'kept' });
  });
  await world.hear(together);
  frozen.freeze(20_000);
  const other = new Tab(1, browser);
  await world.hear(other.db.renameCollection('log', 'diary'), 15_000);
  await world.runUntil(40_000);
  const names = (await world.hear(other.db.collections())).map(({ name }) => name);
  expect(names).toEqual(['beside', 'diary']);
  const found = await world.hear(open(other, 'diary').filter({}, { sort: { _id: 1 } }));
  expect(found.map(({ _id }) => _id)).toEqual(['alone', 'part 0', 'part 1', 'saved', 'together']);
  expect(await world.hear(open(other, 'beside').count())).toBe(1);
  // The handle does not lead there: it is of another name.
  const codeOf = (asked: Promise<unknown>) =>
    world.hear(asked.catch((error: { code?: string }) => error.code));
  expect(await codeOf(old.insert({ _id: 'late' }))).toBe('collection_renamed');
  expect(await codeOf(old.count())).toBe('collection_renamed');
  other.kill();
  await world.runUntil(60_000);
  const left = (await world.hear(frozen.db.collections())).map(({ name }) => name);
  expect(left).toEqual(['beside', 'diary']);
});

test('a transaction is applied without what it changed in a collection that was dropped', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const frozen = new Tab(0, browser);
  const [old, kept] = [unsaved(frozen, 'log'), unsaved(frozen, 'kept')];
  await world.hear(old.insert({ _id: 'saved' }));
  await world.hear(frozen.db.save());
  const together = frozen.db.transaction(async (tx) => {
    await tx(old).insert({ _id: 'gone' });
    await tx(kept).insert({ _id: 'kept' });
  });
  await world.hear(together);
  frozen.freeze(20_000);
  const other = new Tab(1, browser);
  await world.hear(open(other).Drop(), 15_000);
  await world.runUntil(40_000);
  expect((await world.hear(other.db.collections())).map(({ name }) => name)).toEqual(['kept']);
  expect(await world.hear(open(other, 'kept').count())).toBe(1);
  // Nothing waits to be replayed: the frozen page may forget it.
  other.kill();
  await world.runUntil(60_000);
  expect((await world.hear(frozen.db.collections())).map(({ name }) => name)).toEqual(['kept']);
});
