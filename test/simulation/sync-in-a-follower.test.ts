import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const open = ({ db }: Tab) =>
  new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED', caching: true });

test('what is written without waiting, where another tab has come to lead, is refused and not lost', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const first = new Tab(0, browser);
  const log = open(first);
  const ready = log.ready;
  await world.runUntil(1000);
  await ready;
  log.sync.set('a', 1);
  first.rest(2000);
  await world.runUntil(1500);
  const second = new Tab(1, browser);
  const other = open(second);
  other.ready.catch(() => undefined);
  await world.runUntil(10_000);
  expect([first.db.status.leader, second.db.status.leader]).toEqual([false, true]);
  expect(() => log.sync.set('a', 2)).toThrow(
    expect.objectContaining({ code: 'sync_unavailable', place: 'log' }),
  );
  const value = log.get('a');
  await world.runUntil(20_000);
  expect(await value).toBe(1);
});
