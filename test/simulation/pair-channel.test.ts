import { expect, test } from 'vitest';
import { PairChannel } from '../../src/platform/pair-channel.ts';
import { simulateBrowser } from './browser.ts';
import { Tab } from './tab.ts';
import { World } from './world.ts';

test('messages keep their order while two tabs change to a port', async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const world = new World(seed);
    const { broadcast, switchboard, ...browser } = simulateBrowser(world);
    const tabs = [0, 1].map(
      (id) => new Tab(id, { broadcast, switchboard, ...browser }),
    ) as Pair<Tab>;
    const ends = tabs.map((tab) => new PairChannel('pair', broadcast.of(tab))) as Pair<PairChannel>;
    const heard = ends.map((end) => {
      const all: unknown[] = [];
      end.addEventListener('message', (event) => all.push((event as MessageEvent).data));
      return all;
    });
    const sent = Array.from({ length: 40 }, (_, n) => n);
    for (const n of sent)
      for (const end of ends)
        world.after(world.random.between(n, n + 0.5), undefined, () => end.postMessage(n));
    const { port1, port2 } = switchboard.newPorts(tabs[0]);
    world.after(10, undefined, () => ends[0].offer(port1));
    world.after(15, undefined, () => ends[1].use(port2));
    await world.runUntil(1000);
    expect([seed, ...heard]).toEqual([seed, sent, sent]);
  }
});

type Pair<T> = [T, T];
