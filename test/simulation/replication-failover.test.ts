import { expect, test } from 'vitest';
import type { CairnError } from '../../src/errors/errors.ts';
import { simulateBrowser } from './browser.ts';
import { ReplicationChecker } from './replication-checks.ts';
import { ReplicationClient } from './replication-client.ts';
import { ReplicationLog } from './replication-log.ts';
import { ReplicationNetwork } from './replication-network.ts';
import { ReplicationServer } from './replication-server.ts';
import { World } from './world.ts';

/** A browser whose tabs replicate. */
function replicating(seed = 1) {
  const world = new World(seed);
  const habits = {
    ...{
      commit: 0,
      page: 500,
      repeats: false,
      changes: false,
      refuses: false,
      merges: false,
    },
    keys: 'sent' as const,
  };
  const server = new ReplicationServer(world.random, habits);
  const network = new ReplicationNetwork(world, server, true);
  const site = { number: 0, browser: simulateBrowser(world), network };
  const wrong: string[] = [];
  const log = new ReplicationLog(true);
  const collection = { save_timeout: 3600, save_directly_after: 1000 };
  const open = (id: number, savesLate = false) =>
    new ReplicationClient(id, site, {
      ...{ log, collection: savesLate ? collection : {}, options: {}, poison: 0 },
      trace: () => undefined,
      wrong: (problem) => wrong.push(problem),
    });
  /** Another client pushes a row. */
  const push = (id: string, base: string | undefined, document: object | undefined) => {
    const key = `other.${id}.${base}`;
    const row = { id, base, document: document && { _id: id, ...document }, key };
    return (server.push([row])[0] as { version: string }).version;
  };
  /** What the checks of a run find. */
  const problems = () => new ReplicationChecker(log, server, []).problems();
  return { ...site, world, server, log, open, push, wrong, problems };
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

test('a follower does not lose a change of a document that the leader had not saved', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { world, browser, open, push } = replicating(seed);
    const leader = open(0);
    await world.hear(leader.settle(), 1000);
    const follower = open(1);
    await world.hear(follower.settle(), 1000);
    browser.storage.weather.slowness = 500;
    push('a', undefined, { x: 'old', y: 'old' });
    // As soon as it is there.
    let patched: object | undefined;
    const patch = async () => {
      while (!patched) patched = await follower.orders.patch('a', { x: 'new' });
    };
    patch().catch(() => undefined);
    await world.runUntil(world.now + 10_000, () => patched !== undefined);
    leader.tab.kill();
    await world.hear(follower.settle(200_000), 200_000);
    const order = await world.hear(follower.orders.get('a'));
    expect([seed, order]).toMatchObject([seed, { x: 'new', y: 'old' }]);
  }
});

test('a leader that was frozen and replaced applies no answer that it still has in hand', async () => {
  const { world, server, open, push } = replicating();
  const leader = open(0);
  const first = push('a', undefined, { x: '1' });
  await world.hear(leader.settle(), 1000);
  const { push: accept } = server;
  let second = '';
  // Its push meets a conflict, and the answer finds it frozen.
  server.push = (rows, isLate) => {
    server.push = accept;
    second = push('a', first, { x: '2' });
    leader.tab.freeze(20_000);
    return server.push(rows, isLate);
  };
  await world.hear(leader.orders.patch('a', { y: 'mine' }), 500);
  expect(leader.tab.frozen).toBe(true);
  const follower = open(1);
  await world.hear(follower.settle(), 10_000);
  const { version } = server.pull(undefined, 1).changes[0] as { version: string };
  expect(version).not.toBe(second);
  push('a', version, { x: '3' });
  await world.hear(follower.settle(), 1000);
  await world.runUntil(world.now + 30_000);
  await world.hear(follower.settle(), 1000);
  expect(await world.hear(follower.orders.get('a'))).toMatchObject({ x: '3' });
});

/** A leader that freezes with a change that it has not saved, until another tab has replicated. */
async function frozenWith(
  { world, log, open }: ReturnType<typeof replicating>,
  make: (leader: ReplicationClient) => Promise<unknown>,
  meanwhile: () => void,
): Promise<string[]> {
  const leader = open(0, true);
  const told: string[] = [];
  leader.tab.db.on('error', ({ error }) => told.push((error as CairnError).code));
  await world.hear(leader.settle(), 1000);
  await world.hear(leader.save());
  // Let it write its checkpoint: that would save the change.
  await world.runUntil(world.now + 5000);
  leader.sync.pause();
  await world.hear(make(leader), 10);
  leader.tab.freeze(20_000);
  log.froze(leader.tab);
  meanwhile();
  const follower = open(1, true);
  await world.hear(follower.settle(), 15_000);
  await world.runUntil(world.now + 30_000);
  leader.sync.resume();
  await world.hear(follower.settle(), 1000);
  return told;
}

test('a change of a frozen leader is told as lost where the server has deleted its document', async () => {
  const site = replicating();
  const version = site.push('a', undefined, { x: '1' });
  const told = await frozenWith(
    site,
    (leader) => leader.orders.patch('a', { y: 'mine' }),
    () => void site.push('a', version, undefined),
  );
  expect([...site.server.documents().keys()]).toEqual([]);
  expect(told).toEqual(['change_lost']);
});

test('an insert of a frozen leader is told as lost where the server has another document', async () => {
  const site = replicating();
  const told = await frozenWith(
    site,
    (leader) => leader.insert(['a']),
    () => void site.push('a', undefined, { x: 'theirs' }),
  );
  expect(site.server.documents().get('a')).toMatchObject({ x: 'theirs' });
  expect(told).toEqual(['id_taken']);
  // The event is the word that the checks of a run ask for.
  expect(site.problems()).toEqual([]);
});

test('a watch() without connection is no unexpected error', async () => {
  const { world, network, open } = replicating();
  const { sync } = open(0);
  await world.runUntil(1000);
  const states = new Set<string>();
  sync.on('status', ({ state }) => states.add(state));
  network.cutUntil = world.now + 30_000;
  await world.runUntil(world.now + 29_000);
  expect(states).toContain('offline');
  expect(states).not.toContain('failed');
});

test.each([0, 1])(
  'a rename in tab %i ends the replication in all tabs, as they hear of it',
  async (by) => {
    const { world, network, open } = replicating();
    const tabs = [open(0)];
    await world.hear((tabs[0] as ReplicationClient).settle(), 1000);
    tabs.push(open(1));
    await world.hear((tabs[1] as ReplicationClient).settle(), 1000);
    network.cutUntil = Number.POSITIVE_INFINITY;
    await world.runUntil(world.now + 60_000);
    await world.hear((tabs[by] as ReplicationClient).tab.db.renameCollection('orders', 'sales'));
    await world.runUntil(world.now + 100);
    for (const { sync } of tabs)
      expect(sync.status).toMatchObject({
        state: 'stopped',
        error: { code: 'collection_renamed' },
      });
  },
);
