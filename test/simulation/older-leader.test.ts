import { expose } from 'comlink';
import { expect, test } from 'vitest';
import { tabRoute } from '../../src/page/connection/tab-route.ts';
import { Announcements } from '../../src/platform/announcements.ts';
import type { Switchboard } from '../../src/platform/platform.ts';
import { READY } from '../../src/protocol/ready.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

test('a port is not waited for of a leader that cannot bring one', async () => {
  const world = new World(1);
  const browser = simulateBrowser(world);
  const [older, newer] = [new Tab(0, browser), new Tab(1, browser)] as const;
  new Announcements('db', browser.broadcast.of(older), (said) => {
    if (said.type !== 'join') return;
    const channel = browser.broadcast.of(older)(said.channel);
    expose({}, channel);
    channel.postMessage(READY);
  });
  const waiting = new Set<string>();
  const switchboard: Switchboard = {
    open: (opened) => {
      waiting.add('address');
      world.after(5, newer, () => opened('address'));
      return () => waiting.delete('address');
    },
    bring: () => undefined,
  };
  const broadcast = browser.broadcast.of(newer);
  const route = tabRoute(
    { leader: 'older', epoch: 1, protocol: 1 },
    {
      ...{ client: 'newer', channel: 'pair', broadcast, switchboard, prove: undefined },
      announcements: new Announcements('db', broadcast, () => undefined),
      clock: {
        now: () => world.now,
        elapsed: () => world.now,
        after: (ms, call) => world.after(ms, newer, call),
      },
    },
    {
      event: () => undefined,
      hasUnsaved: () => false,
      lost: () => undefined,
    },
  );
  await Promise.all([route, world.runUntil(252)]);
  expect(waiting.size).toBe(1);
  await world.runUntil(1000);
  expect(waiting.size).toBe(0);
});
