import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const MOMENTS = 41;

interface Item {
  readonly n: number;
  readonly at: Date;
}

/** Enough of them, with a value that JSON has not, for seven parts. */
const items = () => Array.from({ length: 600 }, (_, n) => ({ n, at: new Date(0) }));

/** Two tabs. The second is a follower and inserts; something happens in the middle. */
async function insertMany(
  seed: number,
  list: readonly object[],
  happen: (leader: Tab, follower: Tab) => void,
) {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const hear = async <T>(asked: Promise<T>): Promise<T> => {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    asked.then(settle, settle);
    await world.runUntil(world.now + 60_000, () => isSettled);
    expect(isSettled).toBe(true);
    return asked;
  };
  const open = async (id: number) => {
    const tab = new Tab(id, browser);
    const own = new tab.db.Collection<Item>({ name: 'items', type: 'DOCUMENT_BASED' });
    await hear(own.ready);
    return { tab, own };
  };
  const [leader, follower] = [await open(0), await open(1)];
  const told = follower.own.insertMany(list as Item[]).then(
    (stored) => stored.length,
    (error: { code: string }) => error.code,
  );
  await world.runUntil(world.now + (seed % MOMENTS) / 5);
  happen(leader.tab, follower.tab);
  const answer = await hear(told);
  await world.runUntil(world.now + 10_000);
  const found = await hear(follower.own.filter({}));
  return { answer, found: found.map(({ n }) => n).sort((a, b) => a - b) };
}

test('what is inserted in parts is there once, whenever the page rests in between', async () => {
  const all = items().map(({ n }) => n);
  for (const seed of seedsOf(40)) {
    const { answer, found } = await insertMany(seed, items(), (_, follower) => follower.rest(2000));
    expect([600, 'answer_lost']).toContain(answer);
    expect([seed, found]).toEqual([seed, all]);
  }
});

test('of what is refused in parts nothing is there, whenever the leader is gone in between', async () => {
  const list = items().map((item, index) => ({ ...item, _id: `${index === 150 ? 0 : index}` }));
  for (const seed of seedsOf(40)) {
    const { answer, found } = await insertMany(seed, list, (leader) => leader.kill());
    expect([seed, answer, found]).toEqual([seed, 'id_taken', []]);
  }
});
