import { expect, test } from 'vitest';
import type { Broadcast } from '../../src/platform/platform.ts';
import { simulateBrowser } from './browser.ts';
import { SimBroadcast } from './sim-broadcast.ts';
import { Tab } from './tab.ts';
import { type Owner, World } from './world.ts';

/** Channels that know which are open, and when a follower replays. */
class WatchedBroadcast extends SimBroadcast {
  readonly #open = new Map<Broadcast, readonly [Owner, string]>();
  /** Called when a tab sends its replay. */
  onReplay: (from: Owner) => void = () => undefined;

  /** The names of the open channels of a tab. */
  openIn(tab: Owner): string[] {
    return [...this.#open.values()].flatMap(([owner, name]) => (owner === tab ? name : []));
  }

  override of(owner: Owner): (name: string) => Broadcast {
    const open = super.of(owner);
    return (name) => {
      const channel = open(name);
      this.#open.set(channel, [owner, name]);
      return {
        ...channel,
        postMessage: (message: unknown) => {
          channel.postMessage(message);
          const { path } = message as { path?: readonly string[] };
          if (path?.[0] === 'replay') this.onReplay(owner);
        },
        close: () => {
          this.#open.delete(channel);
          channel.close();
        },
      };
    };
  }
}

/** A follower that replays to the second leader, as the first has crashed. */
async function failover(seed: number) {
  const world = new World(seed);
  const broadcast = new WatchedBroadcast(world);
  const browser = { ...simulateBrowser(world), broadcast };
  const [first, second, follower] = [0, 1, 2].map((id) => new Tab(id, browser)) as [Tab, Tab, Tab];
  for (const { db } of [first, second, follower]) await world.hear(db.ready, 3000);
  let replays = false;
  broadcast.onReplay = (from) => {
    replays ||= from === follower;
  };
  first.kill();
  await world.runUntil(world.now + 5000, () => replays);
  expect([seed, replays]).toEqual([seed, true]);
  return { world, broadcast, second, follower };
}

test('a follower closes its channel to a leader that crashes before it has answered the replay', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { world, broadcast, second, follower } = await failover(seed);
    second.kill();
    const { db } = follower;
    await world.runUntil(world.now + 5000, () => db.status.leader === true);
    expect([seed, db.status.leader, db.status.state]).toEqual([seed, true, 'open']);
    const toOthers = broadcast.openIn(follower).filter((name) => name !== 'cairn:db');
    expect([seed, ...toOthers]).toEqual([seed]);
  }
});

test('a page enters the back/forward cache without a channel, even amid a replay', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const { broadcast, follower } = await failover(seed);
    expect([seed, broadcast.openIn(follower).length]).not.toEqual([seed, 0]);
    follower.rest(1000);
    expect([seed, ...broadcast.openIn(follower)]).toEqual([seed]);
  }
});

test('a change is kept whose engine, in its own page, is replaced amid the replay', async () => {
  for (let moment = 0; moment < 400; moment += 20) {
    const world = new World(1);
    const browser = simulateBrowser(world);
    const [first, own, silent] = [0, 1, 2].map((id) => new Tab(id, browser)) as [Tab, Tab, Tab];
    for (const { db } of [first, own, silent]) await world.hear(db.ready, 3000);
    const open = ({ db }: Tab) =>
      new db.Collection({
        ...{ name: 'notes', type: 'DOCUMENT_BASED' },
        ...{ save_timeout: 3600, save_directly_after: 1000 },
      });
    await world.hear(open(own).insert({ _id: 'told' }));
    browser.storage.weather.slowness = 50;
    // The next engine waits for what it replays.
    silent.freeze(60_000);
    first.kill();
    await world.runUntil(world.now + moment);
    own.freeze(10_000);
    const last = new Tab(3, browser);
    await world.hear(open(last).filter({}), 12_000);
    await world.runUntil(world.now + 10_000);
    // It was not saved.
    last.kill();
    const kept = await world.hear(open(own).filter({}), 12_000);
    expect([moment, ...kept.map(({ _id }) => _id)]).toEqual([moment, 'told']);
  }
});
