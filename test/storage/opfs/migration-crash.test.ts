import { expect, test } from 'vitest';
import { DATABASE_ID, DESTROYED_KEY } from '../../../src/storage/drivers/database-id.ts';
import type { Storage, StorageOperation } from '../../../src/storage/drivers/driver.ts';
import { ENCRYPTION_KEY } from '../../../src/storage/drivers/encryption-key.ts';
import { memoryDriver } from '../../../src/storage/drivers/memory-driver.ts';
import { findHome, moveToFiles, moveToIndexedDb } from '../../../src/storage/opfs/open-opfs.ts';
import { passOn } from '../pass-on.ts';
import { openFiles, put, reopened } from './file-rig.ts';

const MANIFEST: StorageOperation = {
  ...{ type: 'put', store: 'collections', key: ['a'], value: { name: 'a' } },
};
const EPOCH: StorageOperation = {
  ...{ type: 'put', store: 'leadership', key: ['epoch'], value: { epoch: 3, claim: 'x' } },
};
const KEY_RECORD = { epoch: 1, claim: 'a wrapped key' };
const KEY: StorageOperation = {
  ...{ type: 'put', store: 'leadership', key: ENCRYPTION_KEY, value: KEY_RECORD },
};
const VALUES = Array.from({ length: 50 }, (_, n) => ({ n }));

/** IndexedDB with data, and files that nobody has used. */
async function makeHomes() {
  const pages = await memoryDriver().open('db', { damaged: () => undefined });
  await pages.write([MANIFEST, EPOCH, KEY, ...VALUES.map((value, n) => put(n, value))], 'strict');
  return { pages, ...openFiles() };
}

/** Storage whose writes fail from one on: the process has ended. */
function endingAt(storage: Storage, writes: number): Storage {
  let left = writes;
  return {
    ...passOn(storage),
    write: async (operations, durability) => {
      if (left-- <= 0) throw new Error('The process has ended.');
      await storage.write(operations, durability);
    },
  };
}

type Files = ReturnType<typeof openFiles>;

/** As the next engine finds it. */
async function readHome(first: Files['first'], second: Files['second'], pages: Storage) {
  const { database, damage } = reopened(first.bytes, second.bytes);
  const home = await findHome(database, pages, (error) => damage.push(error));
  const storage = home.in === 'files' ? database : pages;
  const range = { prefix: ['a'], limit: 1000 };
  const values = await storage.list('segments', range);
  const [keyRecord] = await storage.getMany('leadership', [ENCRYPTION_KEY]);
  const [left] = await pages.getMany('leadership', [ENCRYPTION_KEY]);
  // A key that is left behind would be opened by an old password.
  const isLeft = home.in === 'files' && left !== undefined;
  return { in: home.in, values, keyRecord, isLeft, damage };
}

test('a crash at any write of a migration to files leaves all data in one place', async () => {
  const places: string[] = [];
  for (let writes = 0; places.at(-1) !== 'files'; writes++) {
    const { pages, database, first, second } = await makeHomes();
    // Cut at a write to the files, then at one to IndexedDB.
    let left = writes;
    const write = database.write.bind(database);
    database.write = async (operations, durability) => {
      if (left-- <= 0) throw new Error('The process has ended.');
      await write(operations, durability);
    };
    await moveToFiles(database, endingAt(pages, writes > 4 ? 1 : 0)).catch(() => undefined);
    const found = await readHome(first, second, pages);
    expect(found).toMatchObject({ values: VALUES, keyRecord: KEY_RECORD, isLeft: false });
    expect(found.damage).toEqual([]);
    places.push(found.in);
    expect(writes).toBeLessThan(20);
  }
  expect(places[0]).toBe('indexeddb');
});

test('a password that is changed during a migration to files is that of the files', async () => {
  const { pages, database, first, second } = await makeHomes();
  const changed = { epoch: 2, claim: 'wrapped by another password' };
  const claim = { ...KEY, type: 'claim', ...changed } as StorageOperation;
  let isChanged = false;
  const write = database.write.bind(database);
  database.write = async (operations, durability) => {
    await write(operations, durability);
    if (durability === 'relaxed' || isChanged) return;
    isChanged = true;
    await pages.write([claim], 'strict');
  };
  await moveToFiles(database, pages);
  expect(await readHome(first, second, pages)).toEqual({
    ...{ in: 'files', values: VALUES, keyRecord: changed, isLeft: false, damage: [] },
  });
});

test('a crash right after IndexedDB has the marker completes the migration at the next opening', async () => {
  const { pages, database, first, second } = await makeHomes();
  database.settle = () => Promise.reject(new Error('The process has ended.'));
  await expect(moveToFiles(database, pages)).rejects.toThrow('ended');
  expect(await pages.keys('segments', [])).toEqual([]);
  expect(await readHome(first, second, pages)).toMatchObject({ in: 'files', values: VALUES });
});

test('a crash after the way back leaves the data in IndexedDB, not the old files', async () => {
  const { pages, database, first, second } = await makeHomes();
  await moveToFiles(database, pages);
  await expect(moveToIndexedDb(database, endingAt(pages, 0))).rejects.toThrow('ended');
  const whole = { values: VALUES, keyRecord: KEY_RECORD, isLeft: false };
  expect(await readHome(first, second, pages)).toMatchObject({ in: 'files', ...whole });
  await moveToIndexedDb(database, pages);
  expect(await readHome(first, second, pages)).toMatchObject({ in: 'indexeddb', ...whole });
});

test('files whose marker the browser has lost still count; lost files are reported', async () => {
  const { pages, database, first, second } = await makeHomes();
  await moveToFiles(database, pages);
  const reset = await memoryDriver().open('reset', { damaged: () => undefined });
  expect(await readHome(first, second, reset)).toMatchObject({ in: 'files', values: VALUES });
  const { first: empty, second: other } = openFiles();
  const { damage } = await readHome(empty, other, pages);
  expect(damage.map(({ code }) => code)).toEqual(['data_damaged']);
});

test('data that cannot be read is not left out: nothing moves', async () => {
  const { pages, database, first, second } = await makeHomes();
  const unread: Storage = {
    ...endingAt(pages, 10),
    getMany: async (store, keys) => {
      const values = await pages.getMany(store, keys);
      return store === 'segments'
        ? values.map((value, n) => (n === 7 ? undefined : value))
        : values;
    },
  };
  await expect(moveToFiles(database, unread)).rejects.toThrow();
  expect(await readHome(first, second, pages)).toMatchObject({ in: 'indexeddb', values: VALUES });
});

test('files that IndexedDB was reset beside do not come back after a destroy that was cut short', async () => {
  const { pages, database, first, second } = await makeHomes();
  await moveToFiles(database, pages);
  const reset = await memoryDriver().open('reset', { damaged: () => undefined });
  expect((await readHome(first, second, reset)).in).toBe('files');
  // As destroy() leaves it, which ended before it deleted the files.
  const [found] = await reset.getMany('leadership', [DATABASE_ID]);
  const ids = [(found as { id: string }).id];
  await reset.write(
    [
      { type: 'deletePrefix', store: 'leadership', prefix: [] },
      { type: 'put', store: 'leadership', key: ['epoch'], value: { epoch: 1, claim: 'y' } },
      { type: 'put', store: 'leadership', key: DESTROYED_KEY, value: { ids } },
    ],
    'strict',
  );
  expect(await readHome(first, second, reset)).toMatchObject({ values: [], damage: [] });
});
