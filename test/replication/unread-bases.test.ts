import { afterEach, describe, expect, test } from 'vitest';
import { nextTurn } from '../../src/async/next-turn.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { crashPage, faultyDriver, oneDatabase } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let names = 0;
afterEach(closeDevices);

/**
 * A device after a reload: the bodies of its documents are in storage, which takes its time.
 *
 * @param later Documents that come one by one, and so are stored apart.
 */
async function reloaded(
  remote: MemoryRemote,
  storage: StorageDriver = faultyDriver(undefined, true),
  later: readonly string[] = [],
): Promise<Device> {
  const database = { name: `unread ${++names}`, storage };
  const first = new Device(remote, {}, database);
  await first.settled();
  for (const id of later) {
    remote.write(id, { count: 1 });
    await first.settled();
  }
  await first.close();
  const second = new Device(remote, {}, database);
  await second.settled();
  return second;
}

/** Reads take longer than writes. */
function slowToRead(driver: StorageDriver): StorageDriver {
  return {
    ...driver,
    open: async (...args) => {
      const storage = await driver.open(...args);
      const getMany: typeof storage.getMany = async (...asked) => {
        for (let turns = 0; turns < 10; turns++) await nextTurn();
        return storage.getMany(...asked);
      };
      return { ...storage, getMany };
    },
  };
}

describe('while the base of a change is read from storage', () => {
  test.each(['update', 'delete'] as const)('revert() undoes the %s', async (change) => {
    const remote = new MemoryRemote();
    remote.write('o', { count: 1 });
    remote.write('other', { count: 1 });
    const { orders, sync } = await reloaded(remote);
    sync.pause();
    const changing = change === 'update' ? orders.update('o', { count: 2 }) : orders.delete('o');
    const [, isReverted] = await Promise.all([changing, sync.revert('o')]);
    expect(isReverted).toBe(true);
    expect(await orders.get('o')).toMatchObject({ count: 1 });
    sync.resume();
    await sync.settled({ timeout: 60_000 });
    expect(await orders.get('o')).toMatchObject({ count: 1 });
    expect(sync.status.pending).toBe(0);
    expect(remote.pushes).toEqual([]);
  });

  test('a pull merges with it', async () => {
    const remote = new MemoryRemote();
    remote.write('o', { count: 1, note: '' });
    remote.write('other', { count: 1 });
    const { orders, sync } = await reloaded(remote);
    sync.pause();
    remote.edit('o', { note: 'theirs' });
    let changing: Promise<unknown> | undefined;
    remote.before = () => {
      changing ??= orders.update('o', { count: 2, note: '' });
    };
    sync.resume();
    await sync.settled({ timeout: 60_000 });
    await changing;
    await sync.settled({ timeout: 60_000 });
    expect(await orders.get('o')).toMatchObject({ count: 2, note: 'theirs' });
    expect(sync.conflicts()).toEqual([]);
  });

  test('what a pull merges is the base from then on', async () => {
    const remote = new MemoryRemote();
    remote.write('o', { count: 1, note: '' });
    const others = Array.from({ length: 10 }, (_, other) => `other ${other}`);
    const { orders, sync } = await reloaded(remote, slowToRead(faultyDriver()), others);
    sync.pause();
    remote.edit('o', { note: 'theirs' });
    let changing: Promise<unknown> | undefined;
    let pushes = 0;
    remote.before = (call) => {
      // Bases are read in this order.
      changing ??= Promise.all(
        [...others, 'o'].map((id) => orders.update(id, { count: 2, note: '' })),
      );
      if (call === 'push' && pushes++ === 0) remote.edit('o', { note: 'theirs again' });
    };
    sync.resume();
    await sync.settled({ timeout: 60_000 });
    await changing;
    await sync.settled({ timeout: 60_000 });
    expect(await orders.get('o')).toMatchObject({ count: 2, note: 'theirs again' });
    expect(sync.conflicts()).toEqual([]);
  });

  test('a save waits for it: a crash behind the save leaves it', async () => {
    const remote = new MemoryRemote();
    remote.write('o', { count: 1, note: '' });
    remote.write('other', { count: 1 });
    const driver = faultyDriver();
    const storage = slowToRead(driver);
    const crashing = await reloaded(remote, storage);
    crashing.sync.pause();
    const { orders, name } = crashing;
    await Promise.all([orders.update('o', { count: 2, note: '' }), orders.save()]);
    await crashPage(driver, () => crashing.close());
    remote.edit('o', { note: 'theirs' });
    const again = new Device(remote, {}, { name, storage });
    await again.settled();
    expect(await again.orders.get('o')).toMatchObject({ count: 2, note: 'theirs' });
    expect(again.sync.conflicts()).toEqual([]);
  });
});

test('a crash amid a restore leaves each document what its next edit is merged by', async () => {
  let crashes = 0;
  for (let step = 0; ; step++) {
    const remote = new MemoryRemote();
    for (const id of ['o', 'other']) remote.write(id, { count: 1, note: 'ours' });
    const driver = faultyDriver();
    const open = () =>
      new Device(remote, {}, { name: `restored ${++names}`, storage: oneDatabase(driver) });
    const first = open();
    await first.settled();
    const backup = await first.orders.createBackup();
    remote.edit('other', { count: 2 });
    await first.settled();
    first.sync.pause();
    driver.cut({ after: step >> 1, when: step % 2 ? 'after' : 'before', dies: true });
    await first.orders.loadBackup(backup).catch(() => undefined);
    const wasCut = await crashPage(driver, () => first.close());
    if (wasCut) crashes++;
    const { orders, sync } = open();
    sync.pause();
    await orders.patch('o', { count: 2 });
    await orders.patch('o', { count: 3 });
    remote.edit('o', { note: 'theirs' });
    sync.resume();
    await sync.settled({ timeout: 60_000 });
    for (const one of [await orders.get('o'), remote.document('o')])
      expect([step, one]).toMatchObject([step, { count: 3, note: 'theirs' }]);
    await closeDevices();
    if (!wasCut) break;
  }
  expect(crashes).toBeGreaterThan(5);
});
