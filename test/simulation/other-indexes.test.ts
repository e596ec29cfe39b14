import { expect, test } from 'vitest';
import type { IndexOption } from '../../src/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** An app, and the version of it that has taken its place. */
const OLD = ['a'];
const NEW = ['a', 'b'];

function open(id: number, browser: Browser, indexes: readonly IndexOption[]) {
  const tab = new Tab(id, browser);
  const errors: unknown[] = [];
  tab.db.on('error', ({ error }) => errors.push(error));
  return { tab, own: construct(tab, indexes), errors };
}

function construct(tab: Tab, indexes: readonly IndexOption[]) {
  const own = new tab.db.Collection<{ a: number; b?: string }>({
    ...{ name: 'items', type: 'DOCUMENT_BASED', indexes: [...indexes] },
    save_timeout: 100,
  });
  own.ready.catch(() => undefined);
  return own;
}

type Own = ReturnType<typeof construct>;

/** The answer of a call, or its error. */
const hear = <T>(world: World, asked: Promise<T>): Promise<T | { code: string }> =>
  world.hearInTurns(asked.catch((error: { code: string }) => error));

test('an app that is reloaded as another version has what the old one left, and its own indexes', async () => {
  for (const seed of seedsOf(20)) {
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

test('an engine that goes on gives the next version of a page its own indexes', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const leader = new Tab(0, browser);
  await hear(world, leader.db.ready);
  const old = open(1, browser, OLD);
  await hear(world, old.own.insert({ _id: 'told', a: 1 } as never));
  old.tab.close();
  await world.runUntil(world.now + 1000);
  const next = open(2, browser, ['b']);
  expect(await hear(world, next.own.count())).toBe(1);
  expect(await planOf(world, next.own, { a: 1 })).toBe('scan');
  expect(next.errors).toEqual([]);
});

async function planOf(world: World, own: Own, params: object): Promise<string> {
  const explained = await hear(world, own.explain(params));
  const { plan } = explained as Awaited<ReturnType<Own['explain']>>;
  return plan.kind === 'index' ? plan.index : plan.kind;
}

/** A page of the old version and one of the new, whose first is the leader. */
function deploy(seed: number, leads: 'old' | 'new') {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const old = () => open(leads === 'old' ? 0 : 1, browser, OLD);
  const next = () => open(leads === 'old' ? 1 : 0, browser, NEW);
  return { world, browser, old, next };
}

test.each(['old', 'new'] as const)(
  'a version with one more index works beside the old one: the %s one leads, and ends',
  async (leads) => {
    for (const seed of seedsOf(20)) {
      const { world, old: openOld, next: openNext } = deploy(seed, leads);
      const old = leads === 'old' ? openOld() : undefined;
      const next = openNext();
      const other = old ?? openOld();
      const insert = (from: typeof next, id: string) =>
        hear(world, from.own.insert({ _id: id, a: 1, b: id } as never));
      await insert(other, 'x');
      await insert(next, 'y');
      for (const { own } of [other, next]) await hear(world, own.save());
      const live = next.own.live({ a: 1 });
      live.subscribe(() => undefined);
      for (const { own } of [other, next]) {
        expect(await planOf(world, own, { b: 'x' })).toBe('b');
        expect(await hear(world, own.count({ b: { $in: ['x', 'y'] } } as never))).toBe(2);
      }
      const [gone, left] = leads === 'old' ? [other, next] : [next, other];
      await insert(left, 'z');
      if (seed % 2) gone.tab.close();
      else gone.tab.kill();
      await insert(left, 'after');
      await world.runUntil(world.now + 3000);
      expect([seed, await hear(world, left.own.count())]).toEqual([seed, 4]);
      // An index that no page declares any more goes when a handle is opened.
      const handle = leads === 'old' ? left.own : construct(left.tab, OLD);
      const plan = await planOf(world, handle, { b: 'x' });
      expect([seed, plan]).toEqual([seed, leads === 'old' ? 'b' : 'scan']);
      if (leads === 'old') expect(live.getSnapshot().data).toHaveLength(4);
      expect([seed, left.errors]).toEqual([seed, []]);
    }
  },
);

test('a unique index that acknowledged changes violate fails its own version alone, in every failover', async () => {
  for (const seed of seedsOf(20)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await hear(world, leader.db.ready);
    const old = open(1, browser, OLD);
    for (const id of ['x', 'y']) await hear(world, old.own.insert({ _id: id, a: 1 } as never));
    leader.kill();
    const next = open(2, browser, [{ fields: 'a', unique: true }]);
    expect([seed, await hear(world, next.own.count())]).toEqual([
      seed,
      expect.objectContaining({ code: 'unique_violation' }),
    ]);
    expect([seed, await hear(world, old.own.count())]).toEqual([seed, 2]);
    expect([seed, old.errors]).toEqual([seed, []]);
    await hear(world, old.own.delete('y'));
    const mended = construct(next.tab, [{ fields: 'a', unique: true }]);
    expect([seed, await hear(world, mended.count())]).toEqual([seed, 1]);
  }
});
