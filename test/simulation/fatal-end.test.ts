import { expect, test } from 'vitest';
import { StorageError, type StorageErrorCode } from '../../src/errors/errors.ts';
import { Random } from '../setup/random.ts';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** What ends a client while other tabs can go on: all but what removes the data. */
const CODES: Readonly<Record<Exclude<StorageErrorCode, 'database_destroyed'>, true>> = {
  ...{ key_wrong: true, key_missing: true, key_not_derived: true, not_encrypted: true },
  ...{ format_newer: true, data_damaged: true, data_foreign: true, encryption_unavailable: true },
  ...{
    storage_moved: true,
    storage_unavailable: true,
    storage_failed: true,
    storage_timeout: true,
  },
  ...{ storage_full: true, storage_lost: true, storage_evicted: true, driver_missing: true },
  ...{ database_busy: true, database_taken: true, directory_unusable: true },
};

/** No automatic save within a run. */
const open = ({ db }: Tab) =>
  new db.Collection({
    ...{ name: 'notes', type: 'DOCUMENT_BASED' },
    ...{ save_timeout: 3600, save_directly_after: 1_000_000 },
  });

/**
 * A leader and followers write and save now and then; the leader ends, and no engine starts in the
 * followers any more.
 *
 * @returns what was acknowledged and is lost, and what the followers ended with.
 */
async function endFatally(code: StorageErrorCode, seed: number, isPlanned: boolean) {
  const world = new World(seed);
  const random = new Random(seed);
  const browser = simulateBrowser(world);
  const [leader, ...followers] = [0, 1, 2].map((id) => new Tab(id, browser)) as [Tab, Tab, Tab];
  const told = new Set<string>();
  const ended = new Set<string | undefined>();
  const note = (error: unknown) => ended.add((error as { code?: string }).code);
  const write = (tab: Tab, _id: string) =>
    open(tab)
      .insert({ _id })
      .then(() => void told.add(_id), note);
  void write(leader, 'leader');
  await world.runUntil(1000);
  for (let n = 0; n < 8; n++) {
    for (const [at, tab] of followers.entries()) void write(tab, `${at}:${n}`);
    if (random.chance(0.2)) void leader.db.save();
    await world.runUntil(world.now + random.between(0, 400));
  }
  const refusal = new StorageError(code, 'No engine starts here.');
  for (const follower of followers) follower.refusal = refusal;
  told.delete('leader');
  leader.kill();
  // Calls in flight are told the error, or are made.
  if (!isPlanned) for (const [at, tab] of followers.entries()) void write(tab, `${at}:last`);
  await world.runUntil(world.now + 30_000);
  const states = followers.map(({ db }) => db.status.state);
  const later = new Tab(3, browser);
  const reading = open(later).filter({});
  await world.runUntil(world.now + 10_000);
  const found = new Set((await reading).map(({ _id }) => _id));
  return { ended, states, lost: [...told].filter((id) => !found.has(id)), told: told.size };
}

test.each(Object.keys(CODES) as (keyof typeof CODES)[])(
  'a follower that ends by %s leaves what it was told is done',
  async (code) => {
    for (const seed of seedsOf(20)) {
      const { states, lost, told } = await endFatally(code, seed, seed % 2 === 0);
      expect({ seed, states, lost }).toEqual({ seed, states: ['failed', 'failed'], lost: [] });
      expect(told).toBeGreaterThan(8);
    }
  },
);

test('tabs that hear of a newer version leave what they were told is done', async () => {
  for (const seed of seedsOf(20)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const tabs = [new Tab(0, browser), new Tab(1, browser)];
    const inserted = tabs.map((tab) => open(tab).insert({ _id: `${tab.id}` }));
    await world.runUntil(2000);
    await Promise.all(inserted);
    const newer = browser.broadcast.of(new Tab(2, browser))('cairn:db');
    newer.postMessage({ type: 'lead', leader: 'newer', epoch: 1e6, protocol: 1000 });
    await world.runUntil(4000);
    expect(tabs.map(({ db }) => db.status.state)).toEqual(['failed', 'failed']);
    for (const tab of tabs) tab.kill();
    await world.runUntil(5000);
    const found = open(new Tab(3, browser)).filter({});
    await world.runUntil(8000);
    expect((await found).map(({ _id }) => _id).sort()).toEqual(['0', '1']);
  }
});

/** Whether a journal outlives an opening that has memory alone. */
async function outlivesMemory(seed: number): Promise<boolean> {
  const world = new World(seed);
  const browser = simulateBrowser(world);
  const tab = new Tab(0, browser);
  const inserted = open(tab).insert({ _id: 'a' });
  await world.runUntil(1000);
  await inserted;
  browser.storage.weather.failures = 1;
  tab.quit();
  await world.runUntil(2000);
  browser.storage.weather.failures = 0;
  const blocked = new Tab(1, browser);
  blocked.refusal = new StorageError('storage_unavailable', 'It is forbidden here.');
  const counted = open(blocked).count();
  await world.runUntil(4000);
  expect([await counted, blocked.db.status.storage]).toEqual([0, 'memory']);
  const closed = blocked.db.close();
  await world.runUntil(6000);
  await closed;
  blocked.kill();
  const found = open(new Tab(2, browser)).get('a');
  await world.runUntil(9000);
  return (await found) !== undefined;
}

test('an engine that runs in memory leaves journals of what is in storage to the next', async () => {
  for (const seed of seedsOf(20)) expect([seed, await outlivesMemory(seed)]).toEqual([seed, true]);
});
