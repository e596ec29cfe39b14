import { expect, test } from 'vitest';
import type { DocumentCollection, IndexOption } from '../../src/index.ts';
import { type Browser, simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

interface Thing {
  readonly _id: string;
  readonly at?: unknown;
}

const indexes: IndexOption[] = [{ vector: 'at', dimensions: 2, metric: 'euclidean' }];

function open(id: number, browser: Browser, declared = indexes) {
  const tab = new Tab(id, browser);
  const things = new tab.db.Collection<{ at?: unknown }>({
    ...{ name: 'things', type: 'DOCUMENT_BASED', indexes: declared },
    save_timeout: 100,
  }) as unknown as DocumentCollection<{ at?: unknown }>;
  things.ready.catch(() => undefined);
  return { tab, things };
}

/** What is nearest to the origin, by a look at all documents. */
const bruteForce = (documents: readonly Thing[]) =>
  documents
    .flatMap(({ _id, at }) => (Array.isArray(at) && at.length === 2 ? { _id, at } : []))
    .map(({ _id, at: [x, y] }) => ({ _id, far: Math.hypot(x, y) }))
    .sort((a, b) => a.far - b.far)
    .map(({ _id }) => _id);

const nearest = async (world: World, things: DocumentCollection<{ at?: unknown }>) =>
  (await world.hearInTurns(things.nearest([0, 0], { k: 100 }))).map(({ document }) => document._id);

test('every leader finds the nearest of what was acknowledged', async () => {
  for (const seed of seedsOf(12)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const { random } = world;
    let leader = open(0, browser);
    await world.hearInTurns(leader.tab.db.ready);
    for (let round = 1; round <= 4; round++) {
      const follower = open(round, browser);
      const vector = () => [random.between(1, 1e6), random.between(1, 1e6)];
      for (let n = 0; n < 6; n++)
        await world.hearInTurns(
          follower.things.insert({ _id: `${round} ${n}`, at: vector() } as never),
        );
      await world.hearInTurns(follower.things.patch(`${round} 0`, { at: vector() }));
      await world.hearInTurns(follower.things.patch(`${round} 1`, { at: null }));
      await world.hearInTurns(follower.things.delete(`${round} 2`));
      if (random.chance(0.5)) await world.hearInTurns(leader.things.save());
      const asked = follower.things.nearest([0, 0], { k: 100 });
      if (random.chance(0.5)) leader.tab.kill();
      else leader.tab.close();
      const during = (await world.hearInTurns(asked)).map(({ document }) => document._id);
      const right = bruteForce((await world.hearInTurns(follower.things.filter({}))) as never);
      expect([seed, round, right.length]).toEqual([seed, round, round * 4]);
      expect([seed, round, during]).toEqual([seed, round, right]);
      expect([seed, round, await nearest(world, follower.things)]).toEqual([seed, round, right]);
      leader = follower;
    }
  }
});

test('a vector index loses no change that was acknowledged before it was declared', async () => {
  for (const seed of seedsOf(12)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hearInTurns(leader.db.ready);
    const old = open(1, browser, []);
    const wrong = { _id: 'wrong', at: 'text' };
    if (seed % 2) await world.hearInTurns(old.things.insert(wrong as never));
    else await world.hearInTurns(old.things.insertMany([wrong, { _id: 'none' }] as never));
    await world.hearInTurns(old.things.insert({ _id: 'right', at: [1, 2] } as never));
    leader.kill();
    const next = open(2, browser);
    expect([seed, await nearest(world, next.things)]).toEqual([seed, ['right']]);
    const all = (await world.hearInTurns(next.things.filter({}))).map(({ _id }) => _id);
    expect([seed, all.includes('wrong'), all.length]).toEqual([seed, true, seed % 2 ? 2 : 3]);
    await expect(world.hearInTurns(next.things.insert({ at: 'text' }))).rejects.toMatchObject({
      code: 'vector_invalid',
    });
  }
});
