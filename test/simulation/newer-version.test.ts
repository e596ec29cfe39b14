import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

test('tabs that hear of a newer version fail, and their status says why', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const tabs = [new Tab(0, browser), new Tab(1, browser)];
  const told: unknown[] = [];
  for (const { db } of tabs) {
    await Promise.all([db.ready, world.runUntil(world.now + 1000)]);
    db.on('status', ({ state, last_error }) => {
      if (state === 'failed') told.push((last_error as { code?: string } | undefined)?.code);
    });
  }
  const newer = browser.broadcast.of(new Tab(2, browser))('cairn:db');
  newer.postMessage({ type: 'lead', leader: 'newer', epoch: 1e6, protocol: 1000 });
  await world.runUntil(world.now + 2000);
  expect(told).toEqual(['format_newer', 'format_newer']);
  for (const { db } of tabs) {
    expect(db.status).toMatchObject({ state: 'failed', last_error: { code: 'format_newer' } });
    await expect(db.ready).rejects.toMatchObject({ code: 'format_newer', place: 'db' });
  }
});
