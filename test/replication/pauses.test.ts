import { afterEach, expect, test, vi } from 'vitest';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeDevices();
});

test.each(['push', 'both'] as const)(
  'pause() and resume() at any moment of a round: settled() resolves, direction %s',
  async (direction) => {
    const device = new Device(new MemoryRemote(), { direction });
    await device.settled();
    for (let moment = 0; moment < 60; moment++) {
      const settled = device.sync.settled({ timeout: 60_000 });
      for (let tasks = 0; tasks < moment; tasks++) await Promise.resolve();
      device.sync.pause();
      device.sync.resume();
      await settled;
    }
  },
);

test('a long pull yields to other tasks', async () => {
  const remote = new MemoryRemote();
  for (let n = 0; n < 2000; n++) remote.write(`${n}`, { count: n });
  // Each look at the clock takes 6 ms.
  let ms = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    ms += 6;
    return ms;
  });
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  count();
  const device = new Device(remote);
  await device.settled();
  isOver = true;
  expect(await device.orders.count()).toBe(2000);
  expect(turns).toBeGreaterThan(500);
});
