import { afterEach, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { replicate } from '../../src/replication/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { faultyDriver, oneDatabase } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let names = 0;
afterEach(closeDevices);

/** Leaves `o` patched, `gone` deleted and `new` inserted, none of it pushed. */
async function changedDevice(remote: MemoryRemote, driver: StorageDriver): Promise<Device> {
  const database = { name: `leaving ${++names}`, storage: oneDatabase(driver) };
  const device = new Device(remote, {}, database);
  for (const _id of ['o', 'gone', 'other']) await device.orders.insert({ _id, count: 1 });
  await device.settled();
  device.sync.pause();
  await device.orders.patch('o', { count: 2 });
  await device.orders.delete('gone');
  await device.orders.insert({ _id: 'new', count: 3 });
  return device;
}

const CHANGED = { o: { count: 2 }, other: { count: 1 }, new: { count: 3 } };

async function expectPushed(remote: MemoryRemote, orders: any, sync: any): Promise<void> {
  sync.resume();
  await sync.settled({ timeout: 60_000 });
  const found = await orders.filter({});
  const byId = Object.fromEntries(found.map((one: { _id: string }) => [one._id, one]));
  expect(byId).toMatchObject(CHANGED);
  expect(Object.keys(byId).sort()).toEqual(Object.keys(CHANGED).sort());
  const there = remote.documents().map((one: any) => [one._id, one.count]);
  expect(Object.fromEntries(there)).toEqual({ o: 2, other: 1, new: 3 });
}

async function expectSold(remote: MemoryRemote, db: Database): Promise<void> {
  const pulls: number[] = [];
  const sold = new db.Collection<any>({ name: 'sold', type: 'DOCUMENT_BASED' });
  const next = replicate(sold, { remote });
  next.on('pulled', ({ documents }) => pulls.push(documents));
  await expectPushed(remote, sold, next);
  // What was pushed comes back, and nothing else.
  expect(pulls.reduce((sum, one) => sum + one, 0)).toBe(3);
  await next.stop();
}

test.each(['Drop', 'rename'] as const)(
  'a replicated collection goes on as a whole after each failure of %s()',
  async (how) => {
    let failures = 0;
    // An outage is first, which the call meets; a single fault may meet a save in the background.
    for (let step = -1; ; step++) {
      const remote = new MemoryRemote();
      const driver = faultyDriver();
      const device = await changedDevice(remote, driver);
      const { db, orders } = device;
      if (step < 0)
        driver.inject({ call: 'write', when: 'before', times: Number.POSITIVE_INFINITY });
      else driver.cut({ after: step >> 1, when: step % 2 ? 'after' : 'before', dies: false });
      const leaving = how === 'Drop' ? orders.Drop() : db.renameCollection('orders', 'sold');
      const left = await Promise.resolve(leaving).then(
        () => true,
        () => false,
      );
      const wasCut = step < 0 || driver.wasCut;
      driver.heal();
      if (step < 0) expect(left).toBe(false);
      if (!left) {
        failures++;
        // Both logs are saved from now on.
        if (failures % 2 === 0) await expectPushed(remote, orders, device.sync);
        await orders.save();
        driver.crash();
        const next = new Device(
          remote,
          {},
          { name: `again ${++names}`, storage: oneDatabase(driver) },
        );
        expect(await next.all()).toMatchObject(CHANGED);
        await expectPushed(remote, next.orders, next.sync);
        await next.close();
        await device.close().catch(() => undefined);
      } else {
        await device.close();
        const again = new Database({ name: `again ${++names}`, storage: oneDatabase(driver) });
        const stored = (await again.collections()).map(({ name }) => name);
        expect(stored).toEqual(how === 'Drop' ? [] : ['sold']);
        if (how === 'rename') {
          await expectSold(remote, again);
        } else {
          const orders = new again.Collection<any>({ name: 'orders', type: 'DOCUMENT_BASED' });
          const next = replicate(orders, { remote });
          await next.settled({ timeout: 60_000 });
          expect(await orders.count({})).toBe(3);
          await next.stop();
        }
        await again.close();
      }
      if (!wasCut) break;
    }
    expect(failures).toBeGreaterThan(how === 'Drop' ? 0 : 5);
  },
);

test('a rename takes along what replication knows, whenever another collection is dropped', async () => {
  let drops: Promise<unknown> | undefined;
  for (let step = 0; step === 0 || drops; step++) {
    const remote = new MemoryRemote();
    const driver = faultyDriver();
    const device = await changedDevice(remote, driver);
    const { db } = device;
    const options = { type: 'DOCUMENT_BASED', activate_drop_method: true } as const;
    const other = new db.Collection<any>({ ...options, name: 'other' });
    await other.insert({});
    await db.save();
    drops = undefined;
    driver.interrupt(step, () => {
      drops ??= other.Drop();
    });
    await db.renameCollection('orders', 'sold');
    driver.heal();
    await drops;
    await device.close();
    const again = new Database({ name: `again ${++names}`, storage: oneDatabase(driver) });
    await expectSold(remote, again);
    await again.close();
  }
});
