import type { Tab } from './tab.ts';
import type { World } from './world.ts';

interface Story<Client> {
  /** The first leads. */
  readonly tabs: readonly Client[];
  /** It never ends. */
  readonly watcher: Client;
  open(id: number): Client;
  /** Makes a change, as chance has it. */
  change(client: Client): Promise<unknown>;
  /** The longest pause between two changes, in milliseconds. */
  readonly pauseMs: number;
}

/** Changes documents in tabs while one leader after the other ends or freezes; then all rest. */
export async function changeThroughFailovers<Client extends { readonly tab: Tab }>(
  world: World,
  { tabs: first, watcher, open, change, pauseMs }: Story<Client>,
): Promise<void> {
  const { random } = world;
  let tabs = [...first, watcher];
  for (let round = 1; round <= 4; round++) {
    const calls: Promise<unknown>[] = [];
    for (let step = 0; step < 8; step++) {
      calls.push(change(random.pick(tabs.slice(1))));
      if (random.chance(0.5)) await world.runUntil(world.now + random.between(0, pauseMs));
    }
    const [leader] = tabs as [Client];
    const end = random.pick<(tab: Tab) => void>([
      (tab) => tab.kill(),
      (tab) => tab.close(),
      (tab) => tab.freeze(8000),
      (tab) => tab.rest(8000),
    ]);
    if (leader !== watcher) {
      end(leader.tab);
      // It comes back, as after a reload.
      tabs = [...tabs.slice(1), open(10 + round)];
    }
    await world.hearInTurns(Promise.allSettled(calls));
  }
  await world.runUntil(world.now + 20_000);
}
