import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) => new db.Collection({ name: 'log', type: 'DOCUMENT_BASED' });

test('a backup that is removed is never told to be unknown, whenever the leader is gone', async () => {
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= 60; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hear(open(leader).insert({}));
    const log = open(new Tab(1, browser));
    const name = await world.hear(log.createBackup());
    const told = log.deleteBackup(name).catch((error: { code: string }) => error.code);
    await world.runUntil(world.now + seed / 8);
    leader.kill();
    const answer = await world.hear(told);
    expect([true, 'answer_lost']).toContain(answer);
    const { length } = await world.hear(log.listBackups());
    outcomes.add(`${answer}, ${length} left`);
  }
  expect(outcomes).toContain('true, 0 left');
  expect(outcomes).not.toContain('true, 1 left');
});
