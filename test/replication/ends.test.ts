import { afterEach, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import {
  REPLICATION,
  type ReplicationAccess,
} from '../../src/page/collections/replication-access.ts';
import {
  http,
  type RemoteFetch,
  ReplicationError,
  replicate,
} from '../../src/replication/index.ts';
import { platformEnvironment } from '../../src/replication/loop/platform-environment.ts';
import { Replication } from '../../src/replication/replication.ts';
import { parseOptions } from '../../src/replication/replication-options.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device, type Order } from './device.ts';
import { turn } from './fetching/test-clock.ts';
import { MemoryRemote } from './memory-remote.ts';

let names = 0;
afterEach(closeDevices);

test('settled() rejects when the replication stops, and after its timeout', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.settled();
  remote.before = () => {
    throw new TypeError('no network');
  };
  await expect(device.sync.settled({ timeout: 20 })).rejects.toMatchObject({
    code: 'settled_timeout',
  });
  const settling = expect(device.sync.settled()).rejects.toMatchObject({
    code: 'replication_stopped',
  });
  await device.sync.stop();
  await settling;
});

test.each(['stop', 'pause'] as const)('%s() ends the stream of changes', async (end) => {
  const handler = createHandler({ store: memory(), authorize: () => true });
  let device!: Device;
  const streaming = new Promise<AbortSignal>((resolve) => {
    const fetch: RemoteFetch = (url, init) => {
      if (url.endsWith('/stream')) resolve(init.signal as AbortSignal);
      return handler(new Request(url, init));
    };
    device = new Device(http({ url: 'https://example.com/orders', fetch }));
  });
  const signal = await streaming;
  expect(signal.aborted).toBe(false);
  await device.sync[end]();
  await turn();
  expect(signal.aborted).toBe(true);
});

test('settled() after a login does not reject with the failure before', async () => {
  const remote = new MemoryRemote();
  let isLoggedIn = true;
  remote.before = () => {
    if (!isLoggedIn) throw new ReplicationError('remote_unauthorized', 'Who are you?');
  };
  const device = new Device(remote);
  await device.settled();
  isLoggedIn = false;
  const settled = new Promise<void>((resolve) => {
    device.sync.on('status', ({ state }) => {
      if (state !== 'needs_auth' || isLoggedIn) return;
      isLoggedIn = true;
      device.sync.resume();
      resolve(device.settled());
    });
  });
  await device.orders.insert({ _id: 'a' });
  await settled;
  expect(remote.documents().length).toBe(1);
});

test('a server that rings without news is asked less and less', async () => {
  const remote = new MemoryRemote();
  let rings = 0;
  remote.watch = async function* () {
    rings++;
    yield;
  };
  const device = new Device(remote);
  while (rings < 2) await turn();
  for (let turns = 0; turns < 200; turns++) await turn();
  expect(rings).toBe(2);
  remote.write('a', { count: 1 });
  await device.settled();
  while (rings < 3) await turn();
  expect(await device.all()).toMatchObject({ a: { count: 1 } });
});

test.for(['dropped', 'renamed'])('a collection that is %s ends its replication', async (how) => {
  const remote = new MemoryRemote();
  const { db, orders, sync } = new Device(remote);
  await orders.insert({ _id: 'a' });
  await sync.settled();
  await (how === 'dropped' ? orders.Drop() : db.renameCollection('orders', 'sales'));
  const code = `collection_${how}`;
  await expect(sync.settled()).rejects.toMatchObject({ code });
  remote.write('b', {});
  while (sync.status.state !== 'stopped') await turn();
  expect(sync.status).toMatchObject({ retry_at: undefined, error: { code } });
  // Nothing is deleted on the server.
  expect(remote.documents().length).toBe(2);
});

test.for(['dropped', 'renamed'])(
  'one that waits to retry ends as its collection is %s',
  async (how) => {
    const remote = new MemoryRemote();
    const { db, orders, sync } = new Device(remote);
    await sync.settled();
    remote.before = () => {
      throw new TypeError('no network');
    };
    await orders.insert({ _id: 'a' });
    while (sync.status.state !== 'offline') await turn();
    const settling = sync.settled();
    const code = `collection_${how}`;
    const unsettled = expect(settling).rejects.toMatchObject({ code, place: 'orders' });
    if (how === 'dropped') await orders.Drop();
    else {
      await db.renameCollection('orders', 'sales');
      await db.renameCollection('sales', 'orders');
    }
    expect(sync.status).toMatchObject({ state: 'stopped', retry_at: undefined, error: { code } });
    await unsettled;
    remote.before = () => undefined;
    const anew = new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });
    const again = replicate(anew, { remote });
    await again.settled();
    expect(remote.documents().length).toBe(how === 'dropped' ? 0 : 1);
    await again.stop();
  },
);

test('one collection replicates with one remote, until that is forgotten', async () => {
  const database = { name: `pages ${++names}`, storage: faultyDriver() };
  const remote = new MemoryRemote();
  const first = new Device(remote, {}, database);
  await first.orders.insert({ _id: 'a' });
  await first.settled();
  await first.close();
  const other = Object.assign(new MemoryRemote(), { id: 'memory:other' });
  const second = new Device(other, {}, database);
  await expect(second.settled()).rejects.toMatchObject({ code: 'remote_mismatch' });
  // As the message says; it was never opened.
  await second.sync.stop({ forget: true });
  await second.sync.stop({ forget: true });
  await second.close();
  const third = new Device(other, {}, database);
  await third.settled();
  expect(other.documents()).toEqual([{ _id: 'a' }]);
});

test('a replication that is stopped before it is open leaves no listener', async () => {
  const db = new Database({ name: `pages ${++names}`, storage: 'memory' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
  let listening = 0;
  const sync = new Replication(
    orders[REPLICATION] as ReplicationAccess,
    parseOptions({ remote: new MemoryRemote() }),
    {
      ...platformEnvironment,
      onReturn: () => {
        listening++;
        return () => void listening--;
      },
    },
  );
  const states: string[] = [];
  await sync.stop();
  sync.on('status', ({ state }) => states.push(state));
  await db.close();
  expect(listening).toBe(0);
  expect(states).toEqual([]);
});
