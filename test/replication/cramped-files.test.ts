import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/async/clock.ts';
import { StorageError } from '../../src/errors/errors.ts';
import { Database } from '../../src/index.ts';
import { SyncedFiles } from '../../src/replication/files/synced-files.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { closeDevices } from './device.ts';
import { bytesOf, MEGABYTE, Office } from './office.ts';

afterEach(closeDevices);

/** A database on a disk that takes all but those. */
function crampedDisk() {
  const disk = { isFull: true, crash: () => inner.crash() };
  const inner = faultyDriver();
  const cramped = changedDriver(inner, (opened) => ({
    write: async (operations, durability) => {
      const all = [...operations];
      if (disk.isFull && all.some((one) => 'key' in one && one.key[0] === 'orders file parts'))
        throw new StorageError('storage_full', 'There is no room for this.');
      await opened.write(all, durability);
    },
  }));
  // A crashed client keeps the lock of its name.
  const storage = {
    ...cramped,
    open: (_: string, ...by: readonly [never]) => cramped.open('one', ...by),
  };
  const device = (office: Office, load: 'eager' | 'lazy') =>
    office.device(load, { name: crypto.randomUUID(), storage } as never);
  return { disk, device };
}

test('parts of files that the disk has no room for stay in their document, whatever else is saved', async () => {
  const office = new Office();
  office.before = () => {
    throw new TypeError('offline');
  };
  const { disk, device } = crampedDisk();
  const a = device(office, 'lazy');
  const photo = randomBytes(1.2 * MEGABYTE);
  await a.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await a.orders.save();
  office.before = (url) => {
    if (url.includes('/files/')) throw new TypeError('torn');
  };
  a.sync.resume();
  await expect.poll(() => a.sync.status.error).toMatchObject({ code: 'storage_full' });
  await a.orders.patch('o', { $set: { note: 'looked at' } });
  await a.orders.save();
  disk.crash();
  disk.isFull = false;
  office.before = () => undefined;
  const b = device(office, 'lazy');
  await b.settled();
  expect(await bytesOf(await b.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
  expect((await b.orders.get('o')).note).toBe('looked at');
  expect(office.count('PUT')).toBe(2);
  await a.close().catch(() => undefined);
});

test('parts of files that the disk had no room for are loaded again', async () => {
  const office = new Office();
  const a = office.device();
  const photo = randomBytes(9000);
  await a.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await a.settled();
  const { disk, device } = crampedDisk();
  const b = device(office, 'eager');
  await b.settled();
  await expect.poll(() => office.count('GET')).toBeGreaterThan(1);
  await expect.poll(() => b.sync.status.files?.error?.code).toBe('storage_full');
  disk.crash();
  disk.isFull = false;
  const c = device(office, 'lazy');
  await c.settled();
  expect(await bytesOf(await c.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
  await b.close().catch(() => undefined);
});

test('a round goes on for a document whose file is sent while others are pushed', async () => {
  const db = new Database({ name: crypto.randomUUID(), storage: 'memory' });
  const orders = new db.Collection<any>({ name: 'orders', type: 'DOCUMENT_BASED' });
  await orders.insert({ _id: 'o', photo: new Blob([randomBytes(5000)]) });
  const [sent, release] = held();
  const remote = { received: () => sent };
  const files = await SyncedFiles.open(
    db,
    orders,
    0,
    { load: 'lazy', above: 4096, limit: 1e9 },
    () => ({ files: (ask: (files: unknown) => unknown) => ask(remote) }) as never,
    { progress: () => undefined, changed: () => undefined },
  );
  const send = () => files.send(systemClock, new AbortController().signal);
  expect(files.verdict('o', await orders.get('o'))).toBe(false);
  files.caughtUp();
  const sending = send();
  files.interrupt();
  expect(await sending).toBe(true);
  // A push leaves it out, and its file is there before the answer.
  expect([...files.waiting()]).toEqual(['o']);
  release();
  await expect.poll(() => files.status.uploads).toBe(0);
  expect([await send(), await send()]).toEqual([true, false]);
  await db.close();
});

function held(): [Promise<void>, () => void] {
  let release = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return [promise, release];
}
