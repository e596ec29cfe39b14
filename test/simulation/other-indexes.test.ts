import { beforeAll, expect, test } from 'vitest';
import { type Browser, simulateBrowser } from './browser.ts';
import { warmUp } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

beforeAll(warmUp);

const SEEDS = 20;

/** An app, and the version of it that has taken its place. */
const OLD = ['a'];
const NEW = ['a', 'b'];

function open(id: number, browser: Browser, indexes: readonly string[]) {
  const tab = new Tab(id, browser);
  const errors: unknown[] = [];
  tab.db.on('error', ({ error }) => errors.push(error));
  return { tab, own: construct(tab, indexes), errors };
}

function construct(tab: Tab, indexes: readonly string[]) {
  const own = new tab.db.Collection<{ a: number }>({
    ...{ name: 'items', type: 'DOCUMENT_BASED', indexes: [...indexes] },
    save_timeout: 100,
  });
  own.ready.catch(() => undefined);
  return own;
}

async function hear<T>(world: World, asked: Promise<T>): Promise<T | { code: string }> {
  let answer: { value: T | { code: string } } | undefined;
  const take = (value: T | { code: string }) => {
    answer = { value };
  };
  asked.then(take, take);
  await world.runUntil(world.now + 20_000, () => answer !== undefined);
  expect(answer).toBeDefined();
  return (answer as { value: T }).value;
}

test('an app that is reloaded as another version has what the old one left, and its own indexes', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const old = open(0, browser, OLD);
    await hear(world, old.own.insert({ _id: 'told', a: 1 } as never));
    old.tab.close();
    await world.runUntil(world.now + (seed % 2 ? 5 : 1000));
    const next = new Tab(1, browser);
    const ready = next.db.ready;
    // An app need not construct its collections at once.
    await world.runUntil(world.now + (seed % 4 > 1 ? 2000 : 0));
    const found = await hear(world, construct(next, NEW).filter({}));
    await ready;
    expect([seed, found]).toEqual([seed, [expect.objectContaining({ a: 1 })]]);
    expect(next.db.status.last_error).toBeUndefined();
  }
});

test('an engine that goes on lets the next version of a page have its own indexes', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const leader = new Tab(0, browser);
  await hear(world, leader.db.ready);
  const old = open(1, browser, OLD);
  await hear(world, old.own.insert({ _id: 'told', a: 1 } as never));
  const early = open(2, browser, NEW);
  expect(await hear(world, early.own.count())).toMatchObject({ code: 'index_mismatch' });
  old.tab.close();
  await world.runUntil(world.now + 1000);
  const late = open(3, browser, NEW);
  expect(await hear(world, late.own.count())).toBe(1);
  expect(late.errors).toEqual([]);
});

test('what a page was told is not lost where another version opens the collection first', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = open(0, browser, OLD);
    await hear(world, leader.own.count());
    const next = open(1, browser, NEW);
    expect(await hear(world, next.own.count())).toMatchObject({ code: 'index_mismatch' });
    const old = open(2, browser, OLD);
    await hear(world, old.own.insert({ _id: 'told', a: 1 } as never));
    leader.tab.kill();
    await world.runUntil(world.now + 2000);
    const counts = [await hear(world, next.own.count()), await hear(world, old.own.count())];
    expect([seed, counts]).toEqual([seed, expect.arrayContaining([1])]);
    expect([seed, next.errors, old.errors]).toEqual([seed, [], []]);
  }
});

test.each(['the leader', 'another'])(
  'calls and live queries that were refused work once the other version is gone, which was that of %s',
  async (who) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const world = new World(seed);
      const browser = simulateBrowser(world);
      if (who === 'another') await hear(world, new Tab(0, browser).db.ready);
      const old = [1, 2].map((id) => open(id, browser, OLD));
      for (const { own } of old) {
        await hear(world, own.insert({ a: 1 }));
        await hear(world, own.save());
      }
      const next = open(3, browser, NEW);
      const live = next.own.live({ a: 1 });
      const told: string[] = [];
      live.subscribe(({ status, data }) => told.push(`${status} ${data?.length}`));
      expect(await hear(world, next.own.count())).toMatchObject({ code: 'index_mismatch' });
      for (const { tab } of old) {
        expect(live.getSnapshot().error).toMatchObject({ code: 'index_mismatch' });
        if (seed % 2) tab.close();
        else tab.kill();
        await world.runUntil(world.now + 2000);
      }
      expect([seed, told]).toEqual([seed, ['error undefined', 'ready 2']]);
      await hear(world, next.own.insert({ a: 1 }));
      await world.runUntil(world.now + 1000);
      expect(live.getSnapshot()).toMatchObject({ status: 'ready', data: { length: 3 } });
      expect([seed, await hear(world, next.own.count())]).toEqual([seed, 3]);
    }
  },
);

test('a live query whose refusal is still on its way when the other version goes works, too', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await hear(world, leader.db.ready);
    const old = open(1, browser, OLD);
    await hear(world, old.own.insert({ a: 1 }));
    await hear(world, old.own.save());
    const next = open(2, browser, NEW);
    await hear(world, next.tab.db.ready);
    // What is asked along with it takes as long as storage does.
    browser.storage.weather.slowness = 1000;
    const other = new next.tab.db.Collection({ name: 'others', type: 'DOCUMENT_BASED' });
    const lives = [next.own.live({}), other.live({})];
    for (const live of lives) live.subscribe(() => undefined);
    await world.runUntil(world.now + seed);
    old.tab.close();
    await world.runUntil(world.now + 20_000);
    for (const [index, live] of lives.entries()) {
      const { status, data } = live.getSnapshot();
      expect([seed, status, data?.length]).toEqual([seed, 'ready', 1 - index]);
    }
  }
});
