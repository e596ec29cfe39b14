import { beforeAll, expect, test } from 'vitest';
import { simulateBrowser } from './browser.ts';
import { ReplicationClient } from './replication-client.ts';
import { ReplicationLog } from './replication-log.ts';
import { ReplicationNetwork } from './replication-network.ts';
import { ReplicationServer } from './replication-server.ts';
import { warmUp } from './run-seeds.ts';
import { World } from './world.ts';

beforeAll(warmUp);

/** Tabs of one browser that replicate. */
function replicating() {
  const world = new World(1);
  const habits = { page: 500, repeats: false, changes: false, refuses: false };
  const server = new ReplicationServer(world.random, habits);
  const network = new ReplicationNetwork(world, server, true);
  const site = { number: 0, browser: simulateBrowser(world), network };
  const wrong: string[] = [];
  const open = (id: number) =>
    new ReplicationClient(id, site, {
      ...{ log: new ReplicationLog(true), collection: {}, options: {}, poison: 0 },
      trace: () => undefined,
      wrong: (problem) => wrong.push(problem),
    });
  return { world, server, network, open, wrong };
}

test.each([1, 4])(
  'settled() of a follower, after %i calls, resolves though the leader ends',
  async (calls) => {
    const { world, server, network, open, wrong } = replicating();
    const leader = open(0);
    await world.hear(leader.settle(), 1000);
    const follower = open(1);
    for (let call = 1; call < calls; call++) await world.hear(follower.settle(), 1000);
    network.cutUntil = world.now + 1000;
    await world.hear(follower.insert(['a']), 100);
    const settled = follower.settle(200_000);
    await world.runUntil(world.now + 100);
    leader.tab.kill();
    await world.hear(settled, 200_000);
    expect([...server.documents().keys()]).toEqual(['a']);
    expect(wrong).toEqual([]);
  },
);
