import { afterEach, beforeEach, expect, test } from 'vitest';
import { closeDevices, Device, type Order } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let remote: MemoryRemote;
let device: Device;
beforeEach(async () => {
  remote = new MemoryRemote();
  remote.refuse = ({ document }) => ((document as Order)?.count === 13 ? 'no 13' : undefined);
  remote.write('a', { item: 'lamp', count: 1 });
  device = new Device(remote);
  await device.settled();
});
afterEach(closeDevices);

const nothing = { pending: 0, rejected: 0 };

test('a refused document that the server has now is refused no more', async () => {
  await device.orders.patch('a', { count: 13 });
  await device.settled();
  expect(device.sync.status).toMatchObject({ pending: 0, rejected: 1 });
  remote.edit('a', { count: 13, _updated: true });
  await device.settled();
  expect(await device.sync.rejected()).toEqual([]);
  expect(device.sync.status).toMatchObject(nothing);
});

test('a refused document is sent again once it is merged with the state of the server', async () => {
  await device.orders.patch('a', { count: 13, note: 'mine' });
  await device.settled();
  remote.edit('a', { count: 2 });
  await device.settled();
  expect(remote.document('a')).toMatchObject({ count: 2, note: 'mine' });
  expect(device.sync.status).toMatchObject(nothing);
});

test('a refused document is sent again once loadBackup() has changed it', async () => {
  await device.orders.patch('a', { count: 12 });
  await device.settled();
  const backup = await device.orders.createBackup();
  device.sync.pause();
  await device.orders.patch('a', { count: 13 });
  device.sync.resume();
  await device.settled();
  remote.edit('a', { item: 'desk' });
  await device.orders.loadBackup(backup);
  await device.settled();
  expect(device.sync.status).toMatchObject(nothing);
  expect(await device.orders.get('a')).toEqual(
    expect.objectContaining(remote.document('a') as object),
  );
});

test('a new document that was refused, and that loadBackup() removes, is refused no more', async () => {
  const backup = await device.orders.createBackup();
  await device.orders.insert({ _id: 'b', count: 13 });
  await device.settled();
  expect(device.sync.status).toMatchObject({ pending: 0, rejected: 1 });
  await device.orders.loadBackup(backup);
  await device.settled();
  expect(device.sync.status).toMatchObject(nothing);
  expect(await device.sync.rejected()).toEqual([]);
});
