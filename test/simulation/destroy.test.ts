import { expect, test } from 'vitest';
import { type Browser, simulateBrowser } from './browser.ts';
import { FIRST, SEEDS } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const RUNS = Math.ceil(SEEDS / 20);

const open = ({ db }: Tab) => new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });

/** Writes in a tab at a time, unless it has ended. What comes of it does not matter. */
function write(browser: Browser, tab: Tab, things: ReturnType<typeof open>, ms: number): void {
  browser.world.after(ms, tab, () => {
    things.insert({ _id: `old ${tab.id} ${ms}` }).catch(() => undefined);
  });
}

/** Two or three tabs write, end, rest and freeze while one destroys, perhaps two. */
async function destroyWith(seed: number): Promise<string[]> {
  const world = new World(seed);
  const { random } = world;
  const browser = simulateBrowser(world);
  if (random.chance(0.3)) browser.storage.weather.slowness = random.between(3, 100);
  const tabs = Array.from({ length: 2 + random.below(2) }, (_, id) => new Tab(id, browser));
  const collections = tabs.map(open);
  const readied = Promise.all(collections.map((one) => one.ready));
  await world.hear(readied, 3000);
  for (const [index, tab] of tabs.entries())
    for (let n = 0; n < 6; n++)
      write(browser, tab, collections[index] as (typeof collections)[0], random.between(0, 3000));
  const destroyer = tabs[random.below(tabs.length)] as Tab;
  for (const tab of tabs) {
    if (tab === destroyer) continue;
    const at = random.between(0, 2500);
    const kind = random.below(5);
    world.after(at, undefined, () => {
      if (kind === 0) tab.freeze(random.between(10, 20_000));
      else if (kind === 1) tab.rest(random.between(100, 8000));
      else if (kind === 2) tab.hide(1000);
      else if (kind === 3) tab.close();
      else tab.db.destroy().catch(() => undefined);
    });
  }
  await world.runUntil(world.now + random.between(500, 2500));
  let settled: unknown;
  destroyer.db.destroy().then(
    () => {
      settled = 'destroyed';
    },
    (error: unknown) => {
      settled = error;
    },
  );
  await world.runUntil(world.now + 30_000, () => settled !== undefined);
  const wrong = settled === 'destroyed' ? [] : [`destroy: ${String(settled)}`];
  const anew = new Tab(9, browser);
  const made = open(anew).insert({ _id: 'new' });
  await world.hear(made, 10_000);
  await world.hear(anew.db.save(), 3000);
  await world.runUntil(world.now + 40_000);
  for (const tab of [...tabs, anew]) if (!tab.dead) tab.kill();
  await world.runUntil(world.now + 1000);
  const found = await world.hear(open(new Tab(10, browser)).filter({}), 10_000);
  const ids = found.map(({ _id }) => _id).join();
  if (ids !== 'new') wrong.push(`found ${ids || 'nothing'}`);
  return [...wrong, ...browser.storage.violations];
}

test('what was there before a destroy is never seen again', async () => {
  for (let seed = FIRST; seed < FIRST + RUNS; seed++)
    expect([seed, await destroyWith(seed)]).toEqual([seed, []]);
}, 600_000);
