import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { StorageError } from '../../src/errors/errors.ts';
import { ReplicationError } from '../../src/errors/replication-error.ts';
import { SyncedFiles } from '../../src/replication/files/synced-files.ts';
import type { RemoteFiles } from '../../src/replication/index.ts';
import { RemoteCalls } from '../../src/replication/rounds/remote-calls.ts';
import { memoryFiles } from '../../src/server/files/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { closeDevices } from './device.ts';
import { TestClock } from './fetching/test-clock.ts';
import { bytesOf, hashOf, MEGABYTE, Office } from './office.ts';

afterEach(closeDevices);

/** A disk without room for the parts of files, while it is full. */
class SmallDisk {
  isFull = false;
  readonly driver = changedDriver(memoryDriver(), (storage) => ({
    write: async (operations, durability) => {
      const all = [...operations];
      const isPart = all.some((one) => 'key' in one && one.key[0] === 'orders file parts');
      if (this.isFull && isPart) throw new StorageError('storage_full', 'There is no room left.');
      await storage.write(all, durability);
    },
  }));

  device(office: Office, load: 'eager' | 'lazy', name: string = crypto.randomUUID()) {
    return office.device(load, { name, storage: this.driver } as never);
  }
}

async function partsOf(device: ReturnType<SmallDisk['device']>): Promise<number> {
  const parts = new device.db.Collection({ name: 'orders file parts', type: 'DOCUMENT_BASED' });
  return parts.count();
}

test('files stop at a full disk, say so, leave no part, and come when there is room', async () => {
  const [office, disk] = [new Office(), new SmallDisk()];
  const [a, b] = [office.device(), disk.device(office, 'eager')];
  await b.settled();
  disk.isFull = true;
  const photos = Array.from({ length: 12 }, () => randomBytes(MEGABYTE));
  for (const [at, photo] of photos.entries())
    await a.orders.insert({ _id: `${at}`, photo: new Blob([photo]) });
  await a.settled();
  await b.settled();
  await expect.poll(() => b.sync.status.files?.error?.code).toBe('storage_full');
  // Documents sync, and rounds do not load the files again and again.
  await a.orders.insert({ _id: 'more' });
  await a.settled();
  await b.settled();
  expect(await b.orders.get('more')).toBeTruthy();
  expect(await partsOf(b)).toBeLessThan(5);
  expect(b.sync.status.files?.downloads).toBeGreaterThan(7);
  disk.isFull = false;
  await expect
    .poll(() => b.sync.status.files, { timeout: 30_000 })
    .toEqual({
      uploads: 0,
      downloads: 0,
    });
  for (const [at, photo] of photos.entries()) {
    const bytes = (await bytesOf(await b.sync.file(`${at}`, 'photo'))) as Uint8Array;
    expect(hashOf(bytes)).toBe(hashOf(photo));
  }
}, 60_000);

const never = new Promise<never>(() => undefined);

test('a download goes on as long as bytes come, and ends a minute behind the last', async () => {
  const clock = new TestClock();
  let come: (bytes: number) => void = () => undefined;
  const files = {
    read: (_, __, { onBytes = come }) => {
      come = onBytes;
      return never;
    },
  } as Partial<RemoteFiles>;
  const remote = { id: 'slow', files } as never;
  const calls = new RemoteCalls(remote, new AbortController().signal, clock);
  const reading = calls.files((all, ask) =>
    all.read({ sha256: '', size: MEGABYTE } as never, 0, ask),
  );
  let error: unknown;
  reading.catch((why) => {
    error = why;
  });
  // 17 kB each 50 s: an hour for a part.
  for (let times = 0; times < 60; times++) {
    await clock.advance(50_000);
    come(17_000);
  }
  // A server that sends single bytes is not waited for.
  for (let times = 0; times < 2; times++) {
    expect(error).toBeUndefined();
    await clock.advance(31_000);
    come(1);
  }
  await expect(reading).rejects.toMatchObject({ code: 'remote_timeout' });
});

test('a network of 5 kB a second gets parts that it can send in a minute', async () => {
  const { db, orders } = new Office().device();
  const clock = new TestClock();
  /** No round comes in between. */
  const waiting = { ...clock, after: () => () => undefined };
  const sent: number[] = [];
  const remote: RemoteFiles = {
    received: async () => sent.reduce((sum, bytes) => sum + bytes, 0),
    read: () => never,
    send: async ({ size }, _, from, bytes) => {
      clock.advance(Math.min(60_000, bytes.length / 5));
      if (bytes.length > 300_000) throw new ReplicationError('remote_timeout', 'Too slow.');
      sent.push(bytes.length);
      return from + bytes.length < size ? from + bytes.length : undefined;
    },
  };
  const { signal } = new AbortController();
  const files = await SyncedFiles.open(
    db as never,
    orders,
    0,
    { load: 'lazy', above: 4096, limit: 1e9 },
    () => ({ files: (call: any) => call(remote, { signal }) }) as never,
    { progress: () => undefined, changed: () => undefined },
  );
  const document = { _id: 'o', photo: new Blob([randomBytes(2.5 * MEGABYTE)]) };
  await orders.insert(document);
  let timeouts = 0;
  for (;;) {
    files.verdict('o', await orders.get('o'));
    const isSent = await files.send(waiting, signal).catch((error) => {
      expect(error).toMatchObject({ code: 'remote_timeout' });
      timeouts++;
    });
    if (isSent) break;
  }
  expect(timeouts).toBe(2);
  expect(sent.reduce((sum, bytes) => sum + bytes, 0)).toBe(2.5 * MEGABYTE);
});

test('a file whose bytes the server has lost is refused, and keeps no other file', async () => {
  const store = memoryFiles();
  const lost = hashOf(new Uint8Array(10_000).fill(1));
  const seen: unknown[] = [];
  const office = new Office(
    {
      ...store,
      read: async (file, at) => (file.sha256 === lost ? undefined : store.read(file, at)),
    },
    {},
    (error) => seen.push(error),
  );
  const [a, b] = [office.device(), office.device('eager')];
  for (const n of [0, 1, 2])
    await a.orders.insert({ _id: `${n}`, photo: new Blob([new Uint8Array(10_000).fill(n)]) });
  await a.settled();
  await b.settled();
  await expect.poll(() => b.sync.status.files).toEqual({ uploads: 0, downloads: 0 });
  expect(seen).toMatchObject([{ code: 'file_lost' }]);
  expect(await b.sync.file('0', 'photo')).toBeTruthy();
  expect(await b.sync.file('2', 'photo')).toBeTruthy();
  await expect(b.sync.file('1', 'photo')).rejects.toMatchObject({ code: 'remote_refused' });
});

test('a file that fails each time keeps no other one that comes by itself', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device('eager')];
  const failing = hashOf(new Uint8Array(10_000).fill(0));
  office.before = (url) => {
    if (url.includes(`${failing}?from=`)) throw new TypeError('torn');
  };
  for (const n of [0, 1, 2])
    await a.orders.insert({ _id: `${n}`, photo: new Blob([new Uint8Array(10_000).fill(n)]) });
  await a.settled();
  await b.settled();
  const waits = { timeout: 30_000 };
  await expect.poll(() => b.sync.status.files, waits).toMatchObject({ downloads: 1 });
  expect(b.sync.status.files?.error?.code).toBe('remote_offline');
  office.before = () => undefined;
  await expect.poll(() => b.sync.status.files, waits).toEqual({ uploads: 0, downloads: 0 });
});

test('a server may lose a file ever again', async () => {
  const store = memoryFiles();
  const a = new Office(store).device();
  const photo = randomBytes(1000);
  const file = { collection: 'orders', sha256: hashOf(photo) };
  for (let n = 0; n < 6; n++) {
    await a.orders.insert({ _id: `${n}`, photo: new Blob([photo]) });
    await a.settled();
    expect(await a.sync.rejected()).toEqual([]);
    const since = new Date(Date.now() + 1000);
    await store.unname(file, [...Array(n + 1).keys()].map(String), since);
    expect(await store.remove(file, since)).toBe(true);
  }
});
