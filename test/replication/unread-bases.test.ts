import { afterEach, describe, expect, test } from 'vitest';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let names = 0;
afterEach(closeDevices);

/** A device after a reload: the bodies of its documents are in storage, which takes its time. */
async function reloaded(remote: MemoryRemote): Promise<Device> {
  const database = { name: `unread ${++names}`, storage: faultyDriver(undefined, true) };
  const first = new Device(remote, {}, database);
  await first.settled();
  await first.close();
  const second = new Device(remote, {}, database);
  await second.settled();
  return second;
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
});
