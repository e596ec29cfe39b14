import { afterEach, expect, test } from 'vitest';
import { closeDevices, Device } from './device.ts';
import { rest } from './environment.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(closeDevices);

test('a resolver that changes its arguments loses nothing', async () => {
  const remote = new MemoryRemote();
  const device = new Device(remote, {
    resolve: ({ local, remote: theirs }) =>
      Object.assign(theirs ?? {}, { note: local?.note }) as never,
  });
  await device.orders.insert({ _id: 'o', count: 1 });
  await device.settled();
  device.sync.pause();
  await device.orders.patch('o', { note: 'mine' });
  remote.edit('o', { count: 2 });
  device.sync.resume();
  await device.settled();
  const merged = { _id: 'o', count: 2, note: 'mine' };
  expect(remote.document('o')).toMatchObject(merged);
  expect(await device.orders.get('o')).toMatchObject(merged);
  const [conflict] = device.sync.conflicts();
  expect(conflict).toMatchObject({ result: merged });
  expect(conflict?.remote).toEqual({ _id: 'o', count: 2 });
});

test('pause() and resume() end the wait for a decision that never comes', async () => {
  const remote = new MemoryRemote();
  let asked = 0;
  const device = new Device(remote, {
    resolve: ({ local }) => (++asked === 1 ? new Promise(() => undefined) : local),
  });
  await device.orders.insert({ _id: 'o', count: 1 });
  await device.settled();
  device.sync.pause();
  await device.orders.patch('o', { count: 3 });
  remote.edit('o', { count: 2 });
  device.sync.resume();
  while (asked === 0) await rest();
  device.sync.pause();
  device.sync.resume();
  await device.settled();
  expect(remote.document('o')).toMatchObject({ count: 3 });
});
