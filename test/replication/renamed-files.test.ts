import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { LocalFiles } from '../../src/replication/files/local-files.ts';
import { replicate } from '../../src/replication/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, type Device } from './device.ts';
import { bytesOf, hashOf, Office, placeholder } from './office.ts';

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await closeDevices();
  vi.restoreAllMocks();
});

const [photo, sound] = [randomBytes(5000), randomBytes(6000)];
const blobOf = (bytes: Uint8Array) => new Blob([bytes as Uint8Array<ArrayBuffer>]);
const DAY = 86_400_000;

const newDatabase = () => ({ name: crypto.randomUUID(), storage: faultyDriver() }) as never;

/** Another collection of the device that replicates with the same server. */
function openOther(office: Office, { db }: Device, name: string) {
  const documents = new db.Collection<any>({ name, type: 'DOCUMENT_BASED', caching: false });
  const sync = replicate(documents, { remote: office.remote, files: 'lazy' });
  ends.push(() => sync.stop());
  return { documents, sync, settled: () => sync.settled({ timeout: 60_000 }) };
}

/** Files reach the server no more. @returns what lets them again. */
function cut(office: Office): () => void {
  office.before = (url) =>
    url.includes('/files/') ? Promise.reject(new TypeError('lost')) : undefined;
  return () => {
    office.before = () => undefined;
  };
}

/** A device with a file that the server has, and one that it lacks. */
async function makeDevice(office: Office, database = newDatabase()) {
  const device = office.device('lazy', database);
  await device.orders.insert({ _id: 'sent', photo: blobOf(photo) });
  await device.settled();
  const mend = cut(office);
  await device.orders.insert({ _id: 'unsent', sound: blobOf(sound) });
  await expect
    .poll(async () => (await device.orders.get('unsent'))?.sound)
    .toEqual(placeholder(sound));
  await device.sync.stop();
  return { device, mend, db: device.db };
}

test('a renamed collection sends its files, and has those that it had', async () => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  await db.renameCollection('orders', 'sales');
  const sales = openOther(office, device, 'sales');
  expect(await bytesOf(await sales.sync.file('sent', 'photo'))).toEqual(new Uint8Array(photo));
  expect(await bytesOf(await sales.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  mend();
  await sales.settled();
  expect([sales.sync.status.files, await sales.sync.rejected()]).toEqual([
    { uploads: 0, downloads: 0 },
    [],
  ]);
  const other = office.device();
  await other.settled();
  expect(await bytesOf(await other.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  // Not twice on the disk.
  const old = new db.Collection({ name: 'orders files', type: 'DOCUMENT_BASED' });
  expect(await old.count({ isWhole: true } as never)).toBe(0);
});

test('a collection that has the earlier name takes no file that was not sent', async () => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  await db.renameCollection('orders', 'sales');
  const again = openOther(office, device, 'orders');
  const third = openOther(office, device, 'third');
  await Promise.all([again.sync.file('none', 'a'), third.sync.file('none', 'a')]);
  const sales = openOther(office, device, 'sales');
  expect(await bytesOf(await sales.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  mend();
  await Promise.all([sales.settled(), again.settled(), third.settled()]);
  const other = office.device();
  await other.settled();
  expect(await bytesOf(await other.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
});

test('a file that was not sent stays for a renamed collection, however late that is opened', async () => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  await db.renameCollection('orders', 'sales');
  mend();
  const files = new db.Collection<any>({ name: 'orders files', type: 'DOCUMENT_BASED' });
  const isThere = () => files.has({ _id: hashOf(sound), isWhole: true });
  const removals = vi.spyOn(LocalFiles.prototype, 'removeUnnamed');
  const looked = async () => {
    await expect.poll(() => removals.mock.results.length).toBeGreaterThan(0);
    await Promise.all(removals.mock.results.splice(0).map(({ value }) => value));
  };
  const now = Date.now();
  for (const days of [0, 2, 4]) {
    vi.spyOn(Date, 'now').mockReturnValue(now + days * DAY);
    const again = openOther(office, device, 'orders');
    await again.settled();
    await looked();
    expect(await isThere()).toBe(true);
    await again.sync.stop();
  }
  const sales = openOther(office, device, 'sales');
  expect(await bytesOf(await sales.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  await sales.documents.delete('unsent');
  await sales.settled();
  await looked();
  // It was taken along: what is left goes as all that nobody names.
  vi.spyOn(Date, 'now').mockReturnValue(now + 6 * DAY);
  await openOther(office, device, 'orders').settled();
  await looked();
  expect(await isThere()).toBe(false);
});

test('a file that only a backup names stays, and is sent once the backup is restored', async () => {
  const office = new Office();
  const database = newDatabase();
  const { device, mend } = await makeDevice(office, database);
  const backup = await device.orders.createBackup();
  await device.orders.delete('unsent');
  await device.close();
  const now = Date.now();
  for (const days of [2, 4]) {
    vi.spyOn(Date, 'now').mockReturnValue(now + days * DAY);
    const later = office.device('lazy', database);
    await later.settled();
    const files = new later.db.Collection<any>({ name: 'orders files', type: 'DOCUMENT_BASED' });
    await expect.poll(async () => (await files.get(hashOf(sound)))?.used).toBe(now + days * DAY);
    await later.close();
  }
  vi.restoreAllMocks();
  mend();
  const restored = office.device('lazy', database);
  await restored.orders.loadBackup(backup);
  await restored.settled();
  const other = office.device();
  await other.settled();
  expect(await bytesOf(await other.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
});

const namesOf = async ({ db }: Device) => (await db.collections()).map(({ name }) => name);

test('a dropped collection takes its files along, and a new one of its name loads them', async () => {
  const office = new Office();
  const { device, mend } = await makeDevice(office);
  mend();
  const other = openOther(office, device, 'sales');
  await other.settled();
  await other.sync.file('sent', 'photo');
  await device.orders.Drop();
  // A constructed one waits for that.
  const again = openOther(office, device, 'orders');
  await again.settled();
  const rowsOf = (name: string, criteria: object) =>
    new device.db.Collection({ name, type: 'DOCUMENT_BASED', caching: false }).count(criteria);
  expect(await rowsOf('orders files', { isWhole: true })).toBe(0);
  expect(await rowsOf('orders file parts', {})).toBe(0);
  expect(await rowsOf('sales file parts', {})).toBe(1);
  expect(await bytesOf(await again.sync.file('sent', 'photo'))).toEqual(new Uint8Array(photo));
  const reads = office.count('GET');
  expect(await bytesOf(await other.sync.file('sent', 'photo'))).toEqual(new Uint8Array(photo));
  expect(office.count('GET')).toBe(reads);
});

test('files stay where a backup outlives the collection, and are sent once it is restored', async () => {
  const office = new Office();
  const { device, mend } = await makeDevice(office);
  await device.orders.Drop({ backup: true });
  mend();
  const again = openOther(office, device, 'orders');
  const [backup] = await again.documents.listBackups();
  await again.documents.loadBackup(backup?.name as string);
  await again.settled();
  const other = office.device();
  await other.settled();
  expect(await bytesOf(await other.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
});

test('a file that was not sent stays with a renamed collection, though another of its name is dropped', async () => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  await db.renameCollection('orders', 'sales');
  const options = { type: 'DOCUMENT_BASED', activate_drop_method: true } as const;
  const orders = new db.Collection<any>({ ...options, name: 'orders' });
  await orders.insert({ _id: 'x' });
  await orders.Drop();
  const sales = openOther(office, device, 'sales');
  expect(await bytesOf(await sales.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  mend();
  await sales.settled();
});

test('the same, of one that was renamed twice, to a name that had files', async () => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  for (const name of ['third', 'fourth']) {
    const third = openOther(office, device, name);
    await third.sync.file('none', 'a').catch(() => undefined);
    await third.sync.stop();
    if (name === 'third') await db.renameCollection(name, 'fourth');
  }
  await db.renameCollection('orders', 'sales');
  await db.renameCollection('sales', 'third');
  const options = { type: 'DOCUMENT_BASED', activate_drop_method: true } as const;
  const orders = new db.Collection<any>({ ...options, name: 'orders' });
  await orders.insert({ _id: 'x' });
  await orders.Drop();
  const third = openOther(office, device, 'third');
  expect(await bytesOf(await third.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  mend();
  await third.settled();
});

test('a renamed collection that is dropped before it is opened takes its files along', async () => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  const other = openOther(office, device, 'other');
  await db.renameCollection('orders', 'sales');
  const options = { type: 'DOCUMENT_BASED', activate_drop_method: true } as const;
  const dropSales = async () => {
    await new db.Collection({ ...options, name: 'sales' }).Drop();
    // It waits for what the drop leaves behind.
    await new db.Collection({ ...options, name: 'sales' }).ready;
    return (await namesOf(device)).filter((name) => name.startsWith('orders'));
  };
  // Another collection may still take them along.
  expect(await dropSales()).toEqual(['orders file parts', 'orders files']);
  await other.sync.file('none', 'a').catch(() => undefined);
  await other.sync.stop();
  expect(await dropSales()).toEqual([]);
  mend();
});

test('collections of others that have such names stay', async () => {
  const device = new Office().device('lazy');
  await device.sync.stop();
  const kept = ['orders files', 'orders file parts'];
  for (const name of kept)
    await new device.db.Collection({ name, type: 'DOCUMENT_BASED' }).insert({ _id: 'a' });
  await device.orders.insert({ _id: 'a' });
  const values = new device.db.Collection({ name: 'my files', type: 'KEY_VALUE_BASED' });
  await values.set('device', { size: 0 });
  const errors: unknown[] = [];
  device.db.on('error', (error) => errors.push(error));
  await device.orders.Drop();
  await new device.db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' }).ready;
  expect((await namesOf(device)).sort()).toEqual(['my files', ...kept].sort());
  expect(errors).toEqual([]);
});

test.for([
  ['back', 'orders'],
  ['to a name that another had', 'third'],
] as const)('a collection that is renamed %s has its files', async ([, last]) => {
  const office = new Office();
  const { device, mend, db } = await makeDevice(office);
  const third = openOther(office, device, 'third');
  await third.sync.file('sent', 'photo').catch(() => undefined);
  await third.sync.stop();
  await db.renameCollection('third', 'fourth');
  await db.renameCollection('orders', 'sales');
  const sales = openOther(office, device, 'sales');
  expect(await bytesOf(await sales.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  await sales.sync.stop();
  await db.renameCollection('sales', last);
  const again = openOther(office, device, last);
  expect(await bytesOf(await again.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
  mend();
  await again.settled();
  const other = office.device();
  await other.settled();
  expect(await bytesOf(await other.sync.file('unsent', 'sound'))).toEqual(new Uint8Array(sound));
});
