import { afterEach, expect, test } from 'vitest';
import {
  REPLICATION,
  type ReplicationAccess,
} from '../../src/page/collections/replication-access.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(closeDevices);

test('documents named as members of every object can leave a worker', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.settled();
  device.sync.pause();
  await device.orders.insertMany([{ _id: 'constructor' }, { _id: 'toString' }]);
  const channel = await (device.orders[REPLICATION] as ReplicationAccess).channel();
  await channel.send({ op: 'save' });
  const { opening } = await channel.send({ op: 'replicaOpen', remote: remote.id });
  const { rows } = await channel.send({ op: 'replicaChanges', limit: 10, opening });
  expect(rows.map(({ id }) => id)).toEqual(['constructor', 'toString']);
  expect(structuredClone(rows)).toEqual(rows);
});

test('a refused document named __proto__ is listed, and not sent again and again', async () => {
  const remote = new MemoryRemote();
  remote.refuse = () => 'no';
  const device = new Device(remote);
  await device.orders.insert({ _id: '__proto__' });
  await device.settled();
  expect(await device.sync.rejected()).toMatchObject([{ id: '__proto__', reason: 'no' }]);
  expect(remote.pushes.length).toBe(1);
});
