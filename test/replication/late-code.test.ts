import { afterEach, expect, test, vi } from 'vitest';
import { parts } from '../../src/engine/parts.ts';
import { CairnError } from '../../src/errors/errors.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  await closeDevices();
});

test('a replication whose code does not load goes on once it does', async () => {
  const need = vi.spyOn(parts, 'need').mockImplementation(() => {
    throw new CairnError('load_failed', '');
  });
  const remote = new MemoryRemote();
  const device = new Device(remote);
  await device.orders.insert({ _id: 'a', count: 1 });
  await expect.poll(() => device.sync.status.state).toBe('offline');
  expect(device.sync.status).toMatchObject({ error: { code: 'load_failed' } });
  await expect(device.settled()).rejects.toMatchObject({ code: 'load_failed' });
  need.mockRestore();
  await device.settled();
  expect(remote.documents()).toMatchObject([{ _id: 'a', count: 1 }]);
});
