import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { replicate } from '../../src/replication/index.ts';
import { crashPage, faultyDriver, oneDatabase } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';

let remote: MemoryRemote;
let names = 0;
beforeEach(() => {
  remote = new MemoryRemote();
});
afterEach(closeDevices);

describe.each([true, false])('after a reload, caching: %s', (caching) => {
  let database: { name: string; storage: ReturnType<typeof faultyDriver> };
  beforeEach(() => {
    database = { name: `kept ${++names}`, storage: faultyDriver() };
  });
  const device = (options = {}) => new Device(remote, options, database, { caching });

  test('nothing is pulled or pushed again', async () => {
    remote.write('a', { item: 'lamp' });
    const first = device();
    await first.orders.insert({ _id: 'b', item: 'book' });
    await first.settled();
    await first.close();
    const pushes = remote.pushes.length;
    const second = device();
    const pulled: number[] = [];
    second.sync.on('pulled', ({ documents }) => pulled.push(documents));
    await second.settled();
    expect(remote.pushes.length).toBe(pushes);
    expect(pulled).toEqual([]);
    expect(await second.all()).toMatchObject({ a: { item: 'lamp' }, b: { item: 'book' } });
  });

  test('an edit before replicate() is merged with what it derives from', async () => {
    remote.write('a', { item: 'lamp', count: 1 });
    const first = device();
    await first.settled();
    await first.close();
    const db = new Database(database);
    const orders = new db.Collection<any>({ name: 'orders', type: 'DOCUMENT_BASED', caching });
    await orders.patch('a', { note: 'mine' });
    await db.close();
    remote.rows.get('a');
    const other = new Device(remote);
    await other.settled();
    await other.orders.patch('a', { count: 2 });
    await other.settled();
    const second = device();
    await second.settled();
    expect(remote.document('a')).toMatchObject({ item: 'lamp', count: 2, note: 'mine' });
    expect(second.sync.conflicts()).toEqual([]);
  });

  test('a deleted document is deleted on the server', async () => {
    remote.write('a', { item: 'lamp' });
    const first = device();
    await first.settled();
    first.sync.pause();
    await first.orders.delete('a');
    await first.close();
    const second = device();
    await second.settled();
    expect(remote.documents()).toEqual([]);
  });

  test('a refused document is not sent again until it is changed', async () => {
    remote.refuse = () => 'no';
    const first = device();
    await first.orders.insert({ _id: 'a' });
    await first.settled();
    await first.close();
    const pushes = remote.pushes.length;
    const second = device();
    await second.settled();
    expect(remote.pushes.length).toBe(pushes);
    expect(await second.sync.rejected()).toMatchObject([{ id: 'a', reason: 'no' }]);
    remote.refuse = () => undefined;
    await second.orders.patch('a', { count: 1 });
    await second.settled();
    expect(remote.document('a')).toMatchObject({ count: 1 });
  });

  test('loadBackup() is a local change, which no pull undoes', async () => {
    const first = device();
    await first.orders.insertMany([
      { _id: 'a', count: 1 },
      { _id: 'b', count: 1 },
      { _id: 'gone', count: 1 },
    ]);
    await first.settled();
    const backup = await first.orders.createBackup();
    await first.orders.patch('a', { count: 2 });
    await first.orders.insert({ _id: 'new' });
    await first.orders.delete('gone');
    await first.settled();
    await first.orders.loadBackup(backup);
    await first.settled();
    const all = { a: { count: 1 }, b: { count: 1 }, gone: { count: 1 } };
    expect(await first.all()).toMatchObject(all);
    expect(Object.keys(await first.all()).sort()).toEqual(['a', 'b', 'gone']);
    const other = new Device(remote);
    await other.settled();
    expect(Object.keys(await other.all()).sort()).toEqual(['a', 'b', 'gone']);
    expect(await other.all()).toMatchObject(all);
    await first.close();
    const second = device();
    await second.settled();
    expect(await second.all()).toMatchObject(all);
  });
});

test('a crash of loadBackup() leaves no difference from the server behind', async () => {
  let crashes = 0;
  for (let step = 0; ; step++) {
    remote = new MemoryRemote();
    const driver = faultyDriver();
    const device = new Device(
      remote,
      {},
      { name: `restore ${++names}`, storage: oneDatabase(driver) },
    );
    await device.orders.insertMany([
      { _id: 'a', count: 1 },
      { _id: 'b', count: 1 },
    ]);
    await device.settled();
    const backup = await device.orders.createBackup();
    remote.write('a', { count: 2 });
    await device.orders.delete('b');
    await device.settled();
    device.sync.pause();
    driver.cut({ after: step >> 1, when: step % 2 ? 'after' : 'before', dies: true });
    const isRestored = await device.orders.loadBackup(backup).then(
      () => true,
      () => false,
    );
    const wasCut = await crashPage(driver, () => device.close());
    if (wasCut) crashes++;
    const again = new Device(
      remote,
      {},
      { name: `restore ${++names}`, storage: oneDatabase(driver) },
    );
    await again.settled();
    await again.settled();
    const all = await again.all();
    expect(Object.keys(all).sort()).toEqual(
      remote
        .documents()
        .map((one: any) => one._id)
        .sort(),
    );
    for (const [id, order] of Object.entries(all))
      expect(remote.document(id)).toMatchObject({ count: order.count });
    await again.close();
    if (isRestored) expect(all).toMatchObject({ a: { count: 1 }, b: { count: 1 } });
    if (!wasCut) break;
  }
  expect(crashes).toBeGreaterThan(5);
});

test('a crash of an import that merges loses no change that was not sent', async () => {
  const from = new Device(new MemoryRemote());
  await from.orders.insert({ _id: 'z' });
  const name = await from.orders.createBackup();
  const file = await new Response(await from.orders.exportBackup(name)).blob();
  let crashes = 0;
  for (let step = 0; ; step++) {
    remote = new MemoryRemote();
    for (const id of ['a', 'b', 'c']) remote.write(id, { count: 1, note: 'theirs' });
    const driver = faultyDriver();
    const open = () =>
      new Device(remote, {}, { name: `merge ${++names}`, storage: oneDatabase(driver) });
    const device = open();
    await device.settled();
    device.sync.pause();
    await device.orders.patch('a', { note: 'mine' });
    await device.orders.delete('b');
    await device.orders.insert({ _id: 'new' });
    await device.db.save();
    remote.write('a', { count: 2, note: 'theirs' });
    driver.cut({ after: step >> 1, when: step % 2 ? 'after' : 'before', dies: true });
    await device.orders.importBackup(file, { mode: 'merge' }).catch(() => undefined);
    const wasCut = await crashPage(driver, () => device.close());
    if (wasCut) crashes++;
    const again = open();
    await again.settled();
    await again.settled();
    const { z, ...others } = await again.all();
    expect([step, Object.keys(others).sort()]).toEqual([step, ['a', 'c', 'new']]);
    expect(others).toMatchObject({ a: { count: 2, note: 'mine' } });
    expect(remote.document('a')).toMatchObject({ count: 2, note: 'mine' });
    expect(remote.documents().length).toBe(z ? 4 : 3);
    await again.close();
    if (!wasCut) break;
  }
  expect(crashes).toBeGreaterThan(5);
});

test.each(['pages', 'one page'])(
  'each crash leaves the rows of the checkpoint, %s',
  async (sent) => {
    const { pull } = remote;
    if (sent === 'one page') remote.pull = (after) => pull.call(remote, after, { limit: 1200 });
    for (let id = 0; id < 1200; id++) remote.write(`d${id}`, { count: id });
    let crashes = 0;
    for (let after = 0; ; after++) {
      const driver = faultyDriver();
      const database = { name: `crash ${++names}`, storage: oneDatabase(driver) };
      const device = new Device(remote, {}, database);
      await device.db.ready;
      driver.cut({ after, when: after % 2 ? 'after' : 'before', dies: true });
      await device.settled().catch(() => undefined);
      await device.orders.save().catch(() => undefined);
      const { wasCut } = driver;
      if (wasCut) crashes++;
      driver.crash();
      await device.close().catch(() => undefined);
      driver.heal();
      const again = new Device(remote, {}, { ...database, name: `crash ${++names}` });
      await again.settled();
      expect(Object.keys(await again.all()).length).toBe(1200);
      await again.close();
      if (!wasCut) break;
    }
    expect(crashes).toBeGreaterThan(5);
  },
);

test('the history of another server replaces what came from the old one', async () => {
  for (const id of ['a', 'b', 'c']) remote.write(id, { item: id });
  const device = new Device(remote);
  await device.settled();
  device.sync.pause();
  await device.orders.patch('b', { note: 'mine' });
  await device.orders.insert({ _id: 'new' });
  remote.restore(() => {
    remote.write('a', { item: 'other' });
  });
  device.sync.resume();
  await device.settled();
  expect(await device.all()).toMatchObject({ a: { item: 'other' }, b: { note: 'mine' }, new: {} });
  expect(Object.keys(await device.all()).sort()).toEqual(['a', 'b', 'new']);
  expect(remote.documents().length).toBe(3);
});

test('keys and values replicate', async () => {
  const databases = ['a', 'b'].map(
    (name) => new Database({ name: `values ${name} ${++names}`, storage: 'memory' }),
  );
  const [a, b] = databases.map((db) => {
    const values = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
    return { values, sync: replicate(values, { remote }) };
  });
  await a!.values.set('theme.color', 'dark');
  await a!.sync.settled({ timeout: 60_000 });
  await b!.sync.settled({ timeout: 60_000 });
  expect(await b!.values.get('theme')).toEqual({ color: 'dark' });
  await b!.values.set('theme.size', 3);
  await a!.values.set('theme.font', 'mono');
  for (const one of [a, b, a]) await one!.sync.settled({ timeout: 60_000 });
  expect(await a!.values.get('theme')).toEqual({ color: 'dark', size: 3, font: 'mono' });
  expect(await b!.values.get('theme')).toEqual({ color: 'dark', size: 3, font: 'mono' });
  for (const one of [a, b]) await one!.sync.stop();
  for (const db of databases) await db.close();
});
