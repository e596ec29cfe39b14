import { PGlite } from '@electric-sql/pglite';
import { afterEach, expect, test } from 'vitest';
import { http } from '../../src/replication/index.ts';
import { createHandler, memory, postgres, type Store } from '../../src/server/index.ts';
import { closeDevices, Device } from '../replication/device.ts';

afterEach(closeDevices);

async function overPGlite(): Promise<Store> {
  const db = await PGlite.create();
  const store = postgres((text, values) => db.query(text, values));
  await store.setup();
  return store;
}

const DEVICES = 20;
const COUNTS = 100;

test.each([
  ['memory()', async () => memory()],
  ['postgres() over PGlite', overPGlite],
] as const)(
  'what 20 devices count offline is exact with %s',
  async (_, open) => {
    const handler = createHandler({ store: await open(), authorize: () => true });
    let requests = 0;
    const fetch = (url: string, init: RequestInit) => {
      requests++;
      return handler(new Request(url, init));
    };
    const remote = () => http({ url: 'https://example.com/orders', fetch: fetch as never });
    const devices = Array.from({ length: DEVICES }, () => new Device(remote(), { live: false }));
    const [first] = devices as [Device];
    await first.settled();
    await first.orders.insert({ _id: 'o', count: 0 });
    for (const device of devices) await device.settled();
    for (const { orders } of devices)
      for (let count = 0; count < COUNTS; count++)
        await (orders as any).patch('o', { $inc: { count: 1 } });
    // All at once, and another time for what others have counted meanwhile.
    await Promise.all(devices.map((device) => device.settled()));
    requests = 0;
    for (const device of devices) {
      await device.settled();
      expect((await device.all()).o).toMatchObject({ count: DEVICES * COUNTS });
      expect(device.sync.conflicts()).toEqual([]);
    }
    expect(requests).toBeLessThan(4 * DEVICES);
  },
  300_000,
);
