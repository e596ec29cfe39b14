import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { atRest, soleBackup } from './cut-world.ts';

const documents = { name: 'things', type: 'DOCUMENT_BASED', backup_retention_time: -1 } as const;

/**
 * A restore stored but reported as failed: the engine goes on with the state before, and has to
 * make it durable before it removes segments of either state.
 */
test.each(['deleteBackup', 'createBackup', 'save', 'verify'] as const)(
  'a crash after %s that follows a restore in doubt',
  async (next) => {
    const driver = faultyDriver();
    const { client } = openClient(driver);
    const things = new client.Collection<any>(documents);
    const name = await soleBackup(things);
    await things.insert({ _id: 'b' });
    await things.save();
    driver.inject({ call: 'write', when: 'after' });
    await expect(things.loadBackup(name)).rejects.toBe(outage);
    if (next === 'deleteBackup') {
      for (const each of await things.listBackups()) await things.deleteBackup(each.name);
    } else {
      await things.insert({ _id: 'c' });
      await things[next]();
    }
    await atRest(driver);
    driver.crash();
    const again = new (openClient(driver).client.Collection)<any>(documents);
    const ids = (await again.filter({})).map(({ _id }) => _id).join('');
    expect(ids).toBe(next === 'deleteBackup' ? 'b' : 'bc');
    expect(await again.verify()).toMatchObject({ whole: true });
  },
);

test('the backup before a restore has the segments of a compaction in doubt', async () => {
  /** What becomes of the next compaction. */
  let next: 'stored' | 'its answer is lost' | 'its answer was lost' = 'stored';
  const driver = changedDriver(memoryDriver(), (storage) => ({
    async write(operations, durability) {
      const list = [...operations];
      await storage.write(list, durability);
      if (next !== 'its answer is lost') return;
      if (!list.some(({ type, store }) => type === 'put' && store === 'collections')) return;
      next = 'its answer was lost';
      throw outage;
    },
  }));
  const { client } = openClient(driver);
  const things = new client.Collection<any>(documents);
  const name = await soleBackup(things);
  next = 'its answer is lost';
  const ids = [];
  while (next === 'its answer is lost') {
    ids.push((await things.insert({ pad: 'x'.repeat(30_000) }))._id);
    await things.save().catch(() => undefined);
    await settled();
  }
  expect(await things.loadBackup(name)).toBe(true);
  const undo = (await things.listBackups()).find(({ label }) => label === 'before loadBackup()');
  await client.close();
  const again = new (openClient(driver).client.Collection)<any>(documents);
  expect(await again.verify()).toMatchObject({ whole: true });
  expect(await again.loadBackup(undo?.name as string)).toBe(true);
  expect((await again.getMany(ids)).every((one) => one !== undefined)).toBe(true);
});

test('a failed backup leaves the list of the others: a lost one is still noticed', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const things = new client.Collection<any>(documents);
  await things.insert({ _id: 'a' });
  const name = await things.createBackup();
  driver.inject({ call: 'write', when: 'after' });
  await expect(things.createBackup()).rejects.toBe(outage);
  await things.insert({ _id: 'b' });
  await things.save();
  await client.close();
  const storage = await driver.open('test', { damaged: () => undefined });
  const stored = await storage.keys('snapshots', ['things']);
  expect(stored.map(([, part]) => typeof part)).toEqual(['number', 'string']);
  const [key = []] = stored;
  await storage.write([{ type: 'delete', store: 'snapshots', key }], 'relaxed');
  const again = new (openClient(driver).client.Collection)<any>(documents);
  expect((await again.verify()).backups).toMatchObject([{ name, whole: false }]);
  await expect(again.loadBackup(name)).rejects.toMatchObject({ code: 'backup_damaged' });
});

test('a change beside a backup that fails is saved in time', async () => {
  const driver = faultyDriver(undefined, true);
  const { client, clock } = openClient(driver);
  const things = new client.Collection<any>(documents);
  await things.insert({ _id: 'a' });
  await things.save();
  await atRest(driver);
  const { write } = driver.calls;
  driver.inject({ call: 'write', when: 'before' });
  const verified = things.verify().catch((error: unknown) => error);
  while (driver.calls.write === write) await new Promise((resolve) => setTimeout(resolve));
  await things.insert({ _id: 'b' });
  expect(await verified).toBe(outage);
  expect(client.status).toMatchObject({ unsaved: 1, unsaved_since: expect.any(Date) });
  await clock.advance(60_000);
  await atRest(driver);
  expect(client.status.unsaved).toBe(0);
});

test('segments of damaged data survive the removal of a backup that shares them', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const things = new client.Collection<any>(documents);
  await things.insert({ _id: 'a' });
  await things.save();
  await things.createBackup({ label: 'kept' });
  await things.insert({ _id: 'b' });
  await things.save();
  const shared = await things.createBackup();
  for (const _id of ['c', 'd']) {
    await things.insert({ _id });
    await things.save();
  }
  await client.close();
  const storage = await driver.open('test', { damaged: () => undefined });
  const [a = [], b = [], c = [], d = []] = await storage.keys('segments', ['things']);
  await storage.write([{ type: 'delete', store: 'segments', key: c }], 'relaxed');
  const damaged = new (openClient(driver).client.Collection)<any>(documents);
  await expect(damaged.count()).rejects.toMatchObject({ code: 'data_damaged' });
  await damaged.deleteBackup(shared);
  await expect(damaged.importBackup(new Blob(['no file']))).rejects.toMatchObject({
    code: 'file_not_gzip',
  });
  await atRest(driver);
  expect(await storage.keys('segments', ['things'])).toEqual([a, b, d]);
  const [{ name } = { name: '' }] = await damaged.listBackups();
  await damaged.loadBackup(name);
  const [remains] = await damaged.listBackups();
  expect(remains).toMatchObject({ label: 'what was left of damaged data', documents: 3 });
  expect(await damaged.loadBackup(remains?.name as string)).toBe(true);
  expect((await damaged.filter({})).map(({ _id }) => _id)).toEqual(['a', 'b', 'd']);
});

test('a backup stored but reported as failed is removed, without its shared segments', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const things = new client.Collection<any>(documents);
  await things.insert({ _id: 'a' });
  driver.inject({ call: 'write', when: 'after' });
  await expect(things.createBackup()).rejects.toBe(outage);
  expect(await things.listBackups()).toEqual([]);
  const stored = await driver.open('test', { damaged: () => undefined });
  const [{ name }] = (await stored.list('snapshots', { prefix: [], limit: 9 })) as [any];
  await expect(things.loadBackup(name)).rejects.toMatchObject({ code: 'backup_unknown' });
  const whole = await things.createBackup();
  await things.delete('a');
  await things.loadBackup(whole);
  expect(await things.listBackups()).toHaveLength(2);
  await client.close();
  const again = new (openClient(driver).client.Collection)<any>(documents);
  expect(await again.count()).toBe(1);
  expect(await again.verify()).toMatchObject({ whole: true });
});
