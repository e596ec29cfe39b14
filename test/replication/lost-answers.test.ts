import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { localWins, remoteWins } from '../../src/replication/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let remote: MemoryRemote;
beforeEach(() => {
  remote = new MemoryRemote();
});
afterEach(closeDevices);

const connect = () => {
  remote.before = () => undefined;
  remote.after = () => undefined;
};

/** Makes a change whose push takes effect and is never answered. */
async function loseAnswer({ sync }: Device, change: () => Promise<unknown>): Promise<void> {
  const fail = () => {
    throw new TypeError('the network is gone');
  };
  remote.after = () => {
    remote.before = fail;
    fail();
  };
  const offline = new Promise<void>((resolve) => {
    sync.on('status', ({ state }) => void (state === 'offline' && resolve()));
  });
  await change();
  await offline;
}

describe('after an answer was lost', () => {
  test('a new document that was deleted since is deleted on the server', async () => {
    const device = new Device(remote);
    await device.settled();
    await loseAnswer(device, () => device.orders.insert({ _id: 'o' }));
    expect(remote.document('o')).toBeDefined();
    await device.orders.delete('o');
    connect();
    device.sync.resume();
    await device.settled();
    expect(remote.documents()).toEqual([]);
    expect(await device.orders.count()).toBe(0);
  });

  test('so it is where the server is only pushed to', async () => {
    const device = new Device(remote, { direction: 'push' });
    await device.settled();
    await loseAnswer(device, () => device.orders.insert({ _id: 'o' }));
    await device.orders.delete('o');
    connect();
    device.sync.resume();
    await device.settled();
    expect(remote.documents()).toEqual([]);
  });

  test('a decision for the local state is pushed, though the same state was pushed before', async () => {
    const device = new Device(remote, { resolve: localWins });
    await device.orders.insert({ _id: 'o', count: 1 });
    await device.settled();
    await loseAnswer(device, () => device.orders.patch('o', { count: 2 }));
    remote.write('o', { count: 3 });
    connect();
    device.sync.resume();
    await device.settled();
    expect(device.sync.conflicts()).toMatchObject([{ result: { count: 2 } }]);
    expect(remote.document('o')).toMatchObject({ count: 2 });
    expect(await device.orders.get('o')).toMatchObject({ count: 2 });
  });

  test.each(['in the same page', 'after a reload'])(
    'what the server added stays: %s',
    async (when) => {
      remote.stored = (document) => ({ note: 'from the server', ...document });
      const database = { name: `lost ${when}`, storage: faultyDriver() };
      let device = new Device(remote, {}, database);
      await device.settled();
      await loseAnswer(device, () => device.orders.insert({ _id: 'o', count: 1 }));
      await device.orders.patch('o', { count: 2 });
      if (when === 'after a reload') {
        await device.close();
        device = new Device(remote, {}, database);
      }
      remote.stored = (document) => document;
      connect();
      device.sync.resume();
      await device.settled();
      expect(remote.document('o')).toMatchObject({ count: 2, note: 'from the server' });
      expect(await device.orders.get('o')).toMatchObject({ count: 2, note: 'from the server' });
      expect(device.sync.conflicts()).toEqual([]);
    },
  );
});

test('a new document that is deleted during its push is deleted on the server, which has changed it', async () => {
  const device = new Device(remote);
  await device.settled();
  remote.stored = (document) => ({ note: 'from the server', ...document });
  remote.after = async () => {
    connect();
    await device.orders.delete('o');
  };
  await device.orders.insert({ _id: 'o', count: 1 });
  await device.settled();
  expect(remote.documents()).toEqual([]);
  expect(await device.orders.count()).toBe(0);
});

test('an edit during a push keeps what the server has added meanwhile', async () => {
  const device = new Device(remote);
  await device.settled();
  remote.stored = (document) => ({ note: 'from the server', ...document });
  remote.after = async () => {
    connect();
    remote.stored = (document) => document;
    await device.orders.patch('o', { count: 2 });
  };
  await device.orders.insert({ _id: 'o', count: 1 });
  await device.settled();
  expect(remote.document('o')).toMatchObject({ count: 2, note: 'from the server' });
  expect(await device.orders.get('o')).toMatchObject({ count: 2, note: 'from the server' });
});

test.each(['sent', 'kept', 'none'] as const)(
  'a document that is made anew before a pull brings its deletion is new, keys: %s',
  async (keys) => {
    remote.keys = keys;
    const device = new Device(remote, { resolve: remoteWins });
    await device.orders.insert({ _id: 'o', count: 1 });
    await device.settled();
    const before = remote.pushes.length;
    let inserted: Promise<unknown> | undefined;
    remote.before = async (call) => {
      if (call !== 'pull' || remote.pushes.length === before || inserted) return;
      inserted = device.orders.insert({ _id: 'o', count: 2 });
      await inserted;
    };
    await device.orders.delete('o');
    await device.settled();
    await inserted;
    await device.settled();
    expect(remote.document('o')).toMatchObject({ count: 2 });
    expect(await device.all()).toMatchObject({ o: { count: 2 } });
    expect(device.sync.conflicts()).toEqual([]);
  },
);
