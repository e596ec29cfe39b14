import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { seedsOf } from './run-seeds.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

/** The leader ends at one of so many moments. */
const MOMENTS = 61;

const open = ({ db }: Tab) =>
  new db.Collection<{ n?: number }>({ name: 'log', type: 'DOCUMENT_BASED', save_timeout: 3600 });

test('createBackup makes one backup and returns its name, whenever the leader ends', async () => {
  for (const seed of seedsOf(60)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hear(open(leader).insert({}));
    const log = open(new Tab(1, browser));
    const before = await world.hear(log.createBackup({ label: 'the same' }));
    const told = log.createBackup({ label: 'the same' });
    await world.runUntil(world.now + (seed % MOMENTS) / 8);
    leader.kill();
    const name = await world.hear(told);
    const names = (await world.hear(log.listBackups())).map((backup) => backup.name);
    expect([seed, names]).toEqual([seed, [name, before]]);
  }
});

test('a backup that is removed is never told to be unknown, whenever the leader is gone', async () => {
  const outcomes = new Set<string>();
  for (const seed of seedsOf(60)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hear(open(leader).insert({}));
    const log = open(new Tab(1, browser));
    const name = await world.hear(log.createBackup());
    const told = log.deleteBackup(name).catch((error: { code: string }) => error.code);
    await world.runUntil(world.now + (seed % MOMENTS) / 8);
    leader.kill();
    const answer = await world.hear(told);
    expect([true, 'answer_lost']).toContain(answer);
    const { length } = await world.hear(log.listBackups());
    outcomes.add(`${answer}, ${length} left`);
  }
  expect(outcomes).toContain('true, 0 left');
  expect(outcomes).not.toContain('true, 1 left');
});

test('a follower reads, compares and restores from backups, whenever the leader ends', async () => {
  for (const seed of seedsOf(30)) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hear(open(leader).insert({ _id: 'a', n: 1 }));
    const log = open(new Tab(1, browser));
    const name = await world.hear(log.createBackup());
    await world.hear(log.update('a', { n: 2 }));
    const then = log.at(name);
    const restored = log.restoreDocument('a', name);
    const reads = [then.get('a'), then.count(), log.diff(name).next()] as const;
    await world.runUntil(world.now + (seed % MOMENTS) / 8);
    leader.kill();
    expect(await world.hear(restored)).toMatchObject({ n: 1, _updated: false });
    const [document, count] = [await world.hear(reads[0]), await world.hear(reads[1])];
    expect([seed, document, count]).toMatchObject([seed, { n: 1 }, 1]);
    // It compares what the restored document has become, or its engine was lost.
    const outcome = await world.hear(reads[2].catch(({ code }) => code));
    expect(['export_lost', true]).toContain(typeof outcome === 'string' ? outcome : outcome.done);
    // The change is unsaved, and was acknowledged.
    expect(await world.hear(log.get('a'))).toMatchObject({ n: 1, _updated: false });
    expect(await world.hear(then.get('a'))).toMatchObject({ n: 1 });
  }
});
