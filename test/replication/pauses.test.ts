import { afterEach, test } from 'vitest';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(closeDevices);

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
