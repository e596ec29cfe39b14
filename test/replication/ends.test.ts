import { afterEach, expect, test } from 'vitest';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
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

test('Drop() ends the replication, and deletes nothing on the server', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.orders.insert({ _id: 'a' });
  await device.settled();
  await device.orders.Drop();
  await expect(device.settled()).rejects.toMatchObject({});
  expect(remote.documents().length).toBe(1);
});

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
  await second.close();
  const third = new Device(remote, {}, database);
  await third.settled();
  await third.sync.stop({ forget: true });
  await third.close();
  const fourth = new Device(other, {}, database);
  await fourth.settled();
  expect(other.documents()).toEqual([{ _id: 'a' }]);
});
