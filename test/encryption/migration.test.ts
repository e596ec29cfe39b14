import { expect, test } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { memoryDriver, type Storage, type StorageDriver } from '../../src/index.ts';
import { OpfsStorage } from '../../src/storage/opfs/opfs-storage.ts';
import { moveToFiles, moveToIndexedDb } from '../../src/storage/opfs/storage-migration.ts';
import { openFiles } from '../storage/opfs/file-rig.ts';

const key = new Uint8Array(32).fill(2);
const events = { damaged: () => undefined };
const PLACE = ['a', 1];

async function read(inner: StorageDriver): Promise<unknown> {
  const storage = await encrypted(inner, { key }).open('db', events);
  return (await storage.getMany('segments', [PLACE]))[0];
}

test('an encrypted database opens with its key after a migration to files, and back', async () => {
  const driver = memoryDriver();
  const sealed = await encrypted(driver, { key }).open('db', events);
  await sealed.write([{ type: 'put', store: 'segments', key: PLACE, value: { n: 1 } }], 'strict');
  const pages: Storage = await driver.open('db', events);
  const { database } = openFiles();
  const files: StorageDriver = {
    kind: 'opfs',
    open: async () => new OpfsStorage(database, pages, async () => undefined),
  };
  await moveToFiles(database, pages);
  expect(await read(files)).toEqual({ n: 1 });
  expect(await pages.getMany('leadership', [['encryption']])).toEqual([undefined]);
  await moveToIndexedDb(database, pages);
  expect(await read(driver)).toEqual({ n: 1 });
});
