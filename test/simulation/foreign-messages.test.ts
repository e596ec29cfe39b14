import { expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

const WORDS: readonly unknown[] = [
  ...[undefined, null, 0, '', 'lead', [], {}, new Date(0)],
  ...['who', 'lead', 'begin', 'join', 'constructor'].map((type) => ({ type })),
  { type: 'lead', leader: null, epoch: Number.NaN, protocol: 'two' },
  { type: 'join', leader: null, client: null, channel: null },
];

test('what other code says on the channel of a database moves nobody', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const tabs = [new Tab(0, browser), new Tab(1, browser)];
  for (const { db } of tabs) await Promise.all([db.ready, world.runUntil(world.now + 1000)]);
  const foreign = browser.broadcast.of(new Tab(2, browser))('cairn:db');
  for (const word of WORDS) {
    foreign.postMessage(word);
    await world.runUntil(world.now + 2000);
    const states = tabs.map(({ db }) => [db.status.state, db.status.leader]);
    expect([word, ...states]).toEqual([word, ['open', true], ['open', false]]);
  }
  const log = tabs.map(({ db }) => new db.Collection({ name: 'log', type: 'KEY_VALUE_BASED' }));
  const told = log.map((one) => one.increase('n', 1));
  await world.runUntil(world.now + 1000);
  expect((await Promise.all(told)).sort()).toEqual([1, 2]);
});
