import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) => new db.Collection({ name: 'log', type: 'DOCUMENT_BASED' });

test('createBackup makes one backup and returns its name, whenever the leader ends', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const world = new World(seed);
    const browser = simulateBrowser(world);
    const leader = new Tab(0, browser);
    await world.hear(open(leader).insert({}));
    const log = open(new Tab(1, browser));
    const before = await world.hear(log.createBackup({ label: 'the same' }));
    const told = log.createBackup({ label: 'the same' });
    await world.runUntil(world.now + seed / 8);
    leader.kill();
    const name = await world.hear(told);
    const names = (await world.hear(log.listBackups())).map((backup) => backup.name);
    expect([seed, names]).toEqual([seed, [name, before]]);
  }
});
