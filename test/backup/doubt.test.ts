import { expect, test } from 'vitest';
import { openClient } from '../engine/engine-client.ts';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import { atRest, soleBackup } from './cut-world.ts';

const documents = { name: 'things', type: 'DOCUMENT_BASED', backup_retention_time: -1 } as const;

/**
 * A restore stored but reported as failed: the engine goes on with the state before, and has to make it durable
 * before it removes segments of either state.
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
