import { afterAll, expect, test } from 'vitest';
import { encrypted } from '../../../src/encryption/index.ts';
import { BaseClient } from '../../../src/page/client/base-client.ts';
import { pagePlatform } from '../../../src/page/connection/page-platform.ts';
import { connectInThread } from '../../../src/page/connection/thread-engine.ts';
import { openEncrypted } from '../../../src/storage/encryption/open-encrypted.ts';
import { openOpfs } from '../../../src/storage/opfs/open-opfs.ts';
import { isNight } from '../../setup/at-night.ts';
import { provideFiles } from '../../storage/opfs/memory-folder.ts';

type Home = 'opfs' | 'indexeddb';

/** The disk under files and IndexedDB. */
const disk = { writes: 0, fullAt: Number.POSITIVE_INFINITY, isLasting: false, struck: false };

/** One more write, or flush. */
function take(): void {
  const nth = disk.writes++;
  if (disk.isLasting ? nth < disk.fullAt : nth !== disk.fullAt) return;
  disk.struck = true;
  throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
}

const free = () => Object.assign(disk, { fullAt: Number.POSITIVE_INFINITY, struck: false });

const removeFiles = provideFiles(take);
const { put } = IDBObjectStore.prototype;
IDBObjectStore.prototype.put = function (...given) {
  take();
  return put.apply(this, given);
};

afterAll(() => {
  IDBObjectStore.prototype.put = put;
  removeFiles();
});

const platform = Object.create(pagePlatform, {
  storageCode: { value: async () => ({ openEncrypted, openOpfs }) },
});
const key = new Uint8Array(32).fill(3);

function open(name: string, storage: Home, isEncrypted: boolean, move_to?: Home) {
  const settings = {
    ...{ name, durability: 'relaxed' as const, move_to },
    storage: storage === 'opfs' ? ('opfs' as const) : undefined,
    // The caller of migrateStorage() gives no key.
    ...(isEncrypted && !move_to && { encryption: encrypted(storage, { key }).encryption }),
  };
  const client = new BaseClient(settings, (given) => connectInThread(given, platform));
  const codes: string[] = [];
  client.on('error', ({ error }) => codes.push(error.code));
  return { client, codes };
}

const thingsOf = (client: BaseClient) =>
  new client.Collection<any>({
    ...{ name: 'things', type: 'DOCUMENT_BASED', indexes: ['n'] },
    backup_retention_time: -1,
  });

async function fill(name: string, home: Home, isEncrypted: boolean): Promise<void> {
  const { client } = open(name, home, isEncrypted);
  const things = thingsOf(client);
  for (let n = 0; n < 30; n++) {
    await things.insert({ _id: `d${n}`, n, text: 'x'.repeat(n % 7 === 0 ? 40_000 : 100) });
    await things.save();
  }
  await things.createBackup({ label: 'before' });
  await things.deleteMany({ n: { $gte: 25 } });
  const values = new client.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });
  await values.set('k', 1);
  await client.close();
}

async function read(name: string, home: Home, isEncrypted: boolean) {
  const { client, codes } = open(name, home, isEncrypted);
  const things = thingsOf(client);
  const numbers = (await things.filter({})).map(({ n }) => n);
  const labels = (await things.listBackups()).map(({ label }) => label);
  const values = new client.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });
  const value = await values.get('k');
  const { whole } = await things.verify();
  const { storage } = client.status;
  await client.close();
  return { numbers, labels, value, whole, storage, codes };
}

/** As migrateStorage() does it. @returns the code of the error, if there was one. */
async function move(name: string, to: Home): Promise<string | undefined> {
  const { client, codes } = open(name, 'opfs', false, to);
  const code = await client.ready.then(
    () => undefined,
    (error: { code: string }) => error.code,
  );
  const { storage } = client.status;
  await client.close().catch(() => undefined);
  for (const one of codes) expect(['storage_full', 'key_missing']).toContain(one);
  // Moved as it is, and then not opened.
  if (code === 'key_missing') return undefined;
  if (code === undefined) expect(storage).toBe(to);
  return code;
}

const NUMBERS = Array.from({ length: 25 }, (_, n) => n);
const whole = (storage: Home) => ({
  ...{ numbers: NUMBERS, labels: ['before'], value: 1, whole: true, storage, codes: [] },
});

let names = 0;

/** @returns whether a write found the disk full. */
async function run(to: Home, isEncrypted: boolean, fullAt: number, isLasting: boolean) {
  const name = `move ${++names}`;
  const from = to === 'opfs' ? 'indexeddb' : 'opfs';
  await fill(name, from, isEncrypted);
  Object.assign(disk, { writes: 0, fullAt, isLasting, struck: false });
  const code = await move(name, to);
  const { struck } = disk;
  free();
  expect([undefined, 'storage_full']).toContain(code);
  if (!struck) expect(code).toBe(undefined);
  // What was refused is where it was; with the setting of either home it is found.
  const home = code ? from : to;
  expect(await read(name, 'opfs', isEncrypted)).toEqual(whole(home));
  if (home === 'indexeddb') expect(await read(name, home, isEncrypted)).toEqual(whole(home));
  expect(await move(name, to)).toBe(undefined);
  expect(await read(name, to, isEncrypted)).toEqual(whole(to));
  return struck;
}

const CASES = (['opfs', 'indexeddb'] as const).flatMap((to) =>
  [false, true].flatMap((isEncrypted) =>
    [true, false].map((isLasting) => ({ to, isEncrypted, isLasting })),
  ),
);

test.each(CASES)(
  'a move to $to, encrypted $isEncrypted, on a disk that is full at any write, lasting $isLasting',
  async ({ to, isEncrypted, isLasting }) => {
    const step = isNight ? 1 : 3;
    let nth = isEncrypted ? 1 : 0;
    for (; ; nth += step)
      try {
        if (!(await run(to, isEncrypted, nth, isLasting))) break;
      } catch (cause) {
        throw new Error(`write ${nth}`, { cause });
      }
    expect(nth).toBeGreaterThan(10);
  },
);
