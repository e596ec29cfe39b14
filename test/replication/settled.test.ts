import { afterEach, expect, test } from 'vitest';
import {
  REPLICATION,
  type ReplicationAccess,
} from '../../src/page/collections/replication-access.ts';
import { ReplicationError } from '../../src/replication/index.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { closeTestDatabases, type TestDatabase, testBrowser } from '../../src/testing/index.ts';
import { closeDevices, Device } from './device.ts';
import { replicateAt, rest } from './environment.ts';
import { TestClock } from './fetching/test-clock.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(async () => {
  await closeDevices();
  await closeTestDatabases();
});

const unauthorized = () => new ReplicationError('remote_unauthorized', 'Who are you?');

/** Orders that replicate in a tab, at the time of a test. */
function open(db: TestDatabase, remote: Remote<any>, clock: TestClock, isVisible = true) {
  const orders = new db.Collection<object>({
    ...{ name: 'orders', type: 'DOCUMENT_BASED', activate_drop_method: true },
  });
  return { db, orders, sync: replicateAt(clock, orders, remote, isVisible) };
}

/** What a promise has led to so far. */
function watched(settling: Promise<void>): { outcome: string } {
  const seen = { outcome: 'waits' };
  settling.then(
    () => {
      seen.outcome = 'settled';
    },
    ({ code }) => {
      seen.outcome = code;
    },
  );
  return seen;
}

/** Pages look twice whether anybody replicates. */
async function beats(clock: TestClock): Promise<void> {
  for (let times = 0; times < 2; times++) {
    clock.advance(15_000);
    await rest();
  }
}

async function tabs() {
  const browser = testBrowser();
  const [clock, remote] = [new TestClock(), new MemoryRemote()];
  const leader = open(browser.openTab(), remote, clock);
  await leader.sync.settled();
  const follower = open(browser.openTab(), remote, clock);
  await follower.sync.settled();
  return { browser, clock, remote, leader, follower };
}

test('asked in a round that pushes and whose next pull gets 401: it rejects with that', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.settled();
  let asked: { outcome: string } | undefined;
  remote.before = async (call) => {
    if (asked) throw unauthorized();
    if (call === 'pull') return;
    asked = watched(device.sync.settled());
    await rest();
  };
  await device.orders.insert({ _id: 'a' });
  await expect.poll(() => asked?.outcome).toBe('remote_unauthorized');
  expect(device.sync.status.state).toBe('needs_auth');
});

test('resume() after a login counts in a round that still has the credentials before', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.settled();
  let [pushes, refused] = [0, 0];
  remote.before = async (call) => {
    if (call === 'push') {
      pushes++;
      device.sync.resume();
    } else if (pushes > 0 && refused++ === 0) throw unauthorized();
  };
  await device.orders.insert({ _id: 'a' });
  await expect.poll(() => refused).toBeGreaterThan(1);
  await expect.poll(() => device.sync.status.state).toBe('idle');
});

test('a replication in place of the one that leads is refused: the others reject with that', async () => {
  const { leader, follower, remote, clock } = await tabs();
  for (const id of ['a', 'b', 'c']) {
    await follower.orders.insert({ _id: id });
    await follower.sync.settled();
  }
  await leader.sync.stop();
  const settling = watched(follower.sync.settled());
  await rest();
  remote.before = () => {
    throw unauthorized();
  };
  const next = replicateAt(clock, leader.orders, remote);
  await expect.poll(() => next.status.state).toBe('needs_auth');
  await expect.poll(() => settling.outcome).toBe('remote_unauthorized');
});

test.each(['pause', 'stop'] as const)(
  '%s() in the page that leads ends the wait of others',
  async (how) => {
    const { leader, follower, clock } = await tabs();
    await leader.sync[how]();
    const settling = watched(follower.sync.settled());
    await rest();
    expect(settling.outcome).toBe('waits');
    await beats(clock);
    await expect.poll(() => settling.outcome).toBe('replication_stopped');
  },
);

test('a page that leads and does not replicate lets nobody wait', async () => {
  const browser = testBrowser();
  const first = browser.openTab();
  await first.collections();
  const [clock, remote] = [new TestClock(), new MemoryRemote()];
  const { sync } = open(browser.openTab(), remote, clock);
  const settling = watched(sync.settled());
  await rest();
  expect(settling.outcome).toBe('waits');
  await beats(clock);
  await expect.poll(() => settling.outcome).toBe('replication_stopped');
});

test('pause() ends the wait, unless resume() follows soon', async () => {
  const [clock, remote] = [new TestClock(), new MemoryRemote()];
  const { orders, sync } = open(testBrowser().openTab(), remote, clock);
  await sync.settled();
  let go = () => {};
  remote.before = () =>
    new Promise<void>((resolve) => {
      go = resolve;
    });
  await orders.insert({ _id: 'a' });
  const first = watched(sync.settled());
  await rest();
  sync.pause();
  clock.advance(15_000);
  sync.resume();
  remote.before = () => undefined;
  go();
  await expect.poll(() => first.outcome).toBe('settled');
  remote.before = () => new Promise<void>(() => {});
  const second = watched(sync.settled());
  await rest();
  sync.pause();
  await beats(clock);
  await expect.poll(() => second.outcome).toBe('replication_stopped');
});

test.each(['dropped', 'renamed'] as const)(
  'in a hidden page, of a collection that another page has %s',
  async (how) => {
    const { browser, leader, clock, remote } = await tabs();
    const db = browser.openTab();
    const hidden = open(db, remote, clock, false);
    await hidden.sync.settled();
    remote.before = () => {
      throw new TypeError('no network');
    };
    const settling = watched(hidden.sync.settled());
    await rest();
    if (how === 'dropped') await leader.orders.Drop();
    else await leader.db.renameCollection('orders', 'sales');
    clock.advance(15_000);
    await expect.poll(() => settling.outcome).toBe(`collection_${how}`);
  },
);

test('its timeout counts while the collection does not open', async () => {
  const clock = new TestClock();
  const orders = new (testBrowser().openTab().Collection)<object>({
    ...{ name: 'orders', type: 'DOCUMENT_BASED' },
  });
  const access = orders[REPLICATION] as ReplicationAccess;
  const { owner, settings } = access;
  const never = { owner, settings, channel: () => new Promise<never>(() => {}) };
  const sync = replicateAt(clock, { name: 'orders', [REPLICATION]: never }, new MemoryRemote());
  const settling = watched(sync.settled({ timeout: 1000 }));
  clock.advance(1000);
  await expect.poll(() => settling.outcome).toBe('settled_timeout');
});

test('with live: false a round that was too slow for local changes is followed by another', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote, { live: false });
  await device.settled();
  let count = 0;
  device.db.on('save', ({ collection }) => {
    if (collection === 'orders' && count < 30) void device.orders.patch('a', { count: ++count });
  });
  await device.orders.insert({ _id: 'a', count });
  await device.settled();
  expect(remote.document('a')).toMatchObject({ count: 30 });
});
