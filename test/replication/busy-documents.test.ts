import { afterEach, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { closeDevices, Device } from './device.ts';
import { replicateAt } from './environment.ts';
import { TestClock } from './fetching/test-clock.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(closeDevices);

// 30: more often than one round tries.
test.each([3, 30])(
  'a document that is changed again after each of %i saves is pushed before settled() resolves',
  async (changes) => {
    const remote = new MemoryRemote();
    const device = new Device(remote);
    await device.settled();
    let count = 0;
    device.db.on('save', ({ collection }) => {
      if (collection === 'orders' && count < changes)
        void device.orders.patch('a', { count: ++count });
    });
    await device.orders.insert({ _id: 'a', count });
    await device.settled();
    expect(remote.document('a')).toMatchObject({ count: changes });
    expect(device.sync.status.pending).toBe(0);
  },
);

test('a document that is deleted and inserted anew while others are pushed is a new one', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.settled();
  device.sync.pause();
  await device.orders.insert({ _id: 'again', count: 1 });
  await device.orders.save();
  await device.orders.delete('again');
  await device.orders.insert({ _id: 'other' });
  remote.before = async (call) => {
    if (call !== 'push') return;
    remote.before = () => undefined;
    await device.orders.insert({ _id: 'again', count: 2 });
  };
  device.sync.resume();
  await device.settled();
  expect(remote.document('again')).toMatchObject({ count: 2 });
  expect(remote.pushes.flat().find(({ id }) => id === 'again')).toMatchObject({ base: undefined });
  expect(device.sync.status).toMatchObject({ pending: 0, rejected: 0 });
});

test('one that changes while others of a replaced server are merged ends the round', async () => {
  const remote = new MemoryRemote();
  for (const id of ['a', 'b']) remote.write(id, { count: 1 });
  let isChanged = false;
  const device: Device = new Device(remote, {
    resolve: async ({ local }) => {
      if (!isChanged) await device.orders.patch('b', { count: 3 });
      isChanged = true;
      return local;
    },
  });
  await device.settled();
  device.sync.pause();
  for (const id of ['a', 'b']) await device.orders.update(id, { count: 2 });
  remote.restore(() => {
    for (const id of ['a', 'b']) remote.write(id, undefined);
  });
  device.sync.resume();
  await device.settled();
  expect(remote.documents()).toMatchObject([
    { _id: 'a', count: 2 },
    { _id: 'b', count: 3 },
  ]);
});

test.each(['both', 'push'] as const)(
  'a round in which documents are inserted without end answers who asks for it (%s)',
  async (direction) => {
    const remote = new MemoryRemote();
    const db = new Database({ name: `endless ${direction}`, storage: 'memory' });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    const clock = new TestClock();
    let isOver = false;
    let count = 0;
    const insertNext = () => orders.insert({ _id: `${count++}` });
    remote.before = async (call) => {
      if (isOver || call !== 'push') return;
      clock.advance(500);
      await insertNext();
    };
    for (let first = 0; first < 3; first++) await insertNext();
    const sync = replicateAt(clock, orders, remote, true, { direction });
    await sync.settled();
    expect(remote.documents().length).toBeGreaterThanOrEqual(3);
    expect(sync.status).toMatchObject({ last_sync: undefined, error: undefined });
    // One that asks in the middle of it.
    remote.write('theirs', {});
    await orders.insert({ _id: 'ours' });
    await sync.settled();
    expect(remote.document('ours')).toBeDefined();
    expect((await orders.get('theirs')) !== undefined).toBe(direction === 'both');
    isOver = true;
    await sync.settled();
    expect(remote.documents()).toHaveLength(count + 2);
    expect(sync.status).toMatchObject({ pending: 0, state: 'idle' });
    await db.close();
  },
);
