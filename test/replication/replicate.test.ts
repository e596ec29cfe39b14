import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closeDevices, Device, type Order } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let remote: MemoryRemote;
beforeEach(() => {
  remote = new MemoryRemote();
});
afterEach(closeDevices);

describe('replicate()', () => {
  test('pushes what is here and pulls what is there', async () => {
    remote.write('b', { item: 'book' });
    const device = new Device(remote);
    await device.orders.insert({ _id: 'a', item: 'lamp' });
    await device.settled();
    expect(remote.document('a')).toEqual({ _id: 'a', item: 'lamp' });
    expect(await device.orders.get('b')).toMatchObject({ item: 'book' });
    expect(device.sync.status).toMatchObject({ state: 'idle', pending: 0, error: undefined });
  });

  test('pushes several edits of a document as one', async () => {
    const device = new Device(remote);
    await device.settled();
    device.sync.pause();
    await device.orders.insert({ _id: 'a', item: 'lamp' });
    for (let count = 1; count <= 5; count++) await device.orders.patch('a', { count });
    device.sync.resume();
    await device.settled();
    expect(remote.pushes.flat()).toMatchObject([
      { id: 'a', base: undefined, document: { item: 'lamp', count: 5 } },
    ]);
  });

  test('merges fields that both sides have changed', async () => {
    const [a, b] = [new Device(remote), new Device(remote)];
    await a.orders.insert({ _id: 'o', item: 'lamp', count: 1 });
    await a.settled();
    await b.settled();
    for (const { sync } of [a, b]) sync.pause();
    await a.orders.patch('o', { count: 2 });
    await b.orders.patch('o', { note: 'urgent' });
    for (const { sync } of [a, b]) sync.resume();
    for (const device of [a, b, a]) await device.settled();
    expect(remote.document('o')).toMatchObject({ item: 'lamp', count: 2, note: 'urgent' });
    for (const { orders } of [a, b])
      expect(await orders.get('o')).toMatchObject({ item: 'lamp', count: 2, note: 'urgent' });
    expect([...a.sync.conflicts(), ...b.sync.conflicts()]).toEqual([]);
  });

  test('deletes on both sides', async () => {
    const [a, b] = [new Device(remote), new Device(remote)];
    await a.orders.insert({ _id: 'o' });
    await a.settled();
    await b.settled();
    await b.orders.delete('o');
    await b.settled();
    await a.settled();
    expect(await a.orders.count()).toBe(0);
    expect(remote.documents()).toEqual([]);
  });

  test('a lost answer does not overwrite later edits of the same field', async () => {
    const device = new Device(remote);
    await device.orders.insert({ _id: 'o', count: 1 });
    await device.settled();
    const fail = () => {
      throw new TypeError('the network is gone');
    };
    remote.after = () => {
      remote.before = fail;
      fail();
    };
    const offline = new Promise<void>((resolve) => {
      device.sync.on('status', ({ state }) => void (state === 'offline' && resolve()));
    });
    await device.orders.patch('o', { count: 2 });
    await offline;
    expect(remote.document('o')).toMatchObject({ count: 2 });
    await device.orders.patch('o', { count: 3 });
    remote.after = () => undefined;
    remote.before = () => undefined;
    device.sync.resume();
    await device.settled();
    expect(remote.document('o')).toMatchObject({ count: 3 });
    expect(device.sync.conflicts()).toEqual([]);
  });

  test('a refused document does not block the others, and can be reverted', async () => {
    remote.refuse = ({ document }) => ((document as Order).count === 13 ? 'no 13' : undefined);
    const device = new Device(remote);
    await device.orders.insertMany([
      { _id: 'a', count: 13 },
      { _id: 'b', count: 1 },
    ]);
    await device.settled();
    expect(remote.documents()).toMatchObject([{ _id: 'b' }]);
    expect(await device.sync.rejected()).toMatchObject([{ id: 'a', reason: 'no 13' }]);
    expect(device.sync.status).toMatchObject({ pending: 0, rejected: 1 });
    await device.orders.patch('a', { count: 14 });
    await device.settled();
    expect(remote.document('a')).toMatchObject({ count: 14 });
    await device.orders.patch('a', { count: 13 });
    await device.settled();
    expect(await device.sync.revert('a')).toBe(true);
    expect(await device.orders.get('a')).toMatchObject({ count: 14 });
    expect(await device.sync.rejected()).toEqual([]);
  });
});
