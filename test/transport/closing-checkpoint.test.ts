import { expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import type { StorageOperation } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';

/** More than the 2 MB below which a collection has no checkpoint. */
const DOCUMENTS = Array.from({ length: 4000 }, (_, n) => ({ _id: `p${n}`, pad: 'x'.repeat(700) }));

let names = 0;

function watchedDriver() {
  const inner = memoryDriver();
  const checkpoints: StorageOperation[] = [];
  const driver = changedDriver(inner, (storage) => ({
    async write(operations, durability) {
      const list = [...operations];
      checkpoints.push(...list.filter((one) => one.type === 'put' && one.key[1] === 'checkpoint'));
      return storage.write(list, durability);
    },
  }));
  return { driver, checkpoints };
}

async function filled() {
  const watched = watchedDriver();
  const database = new Database({ name: `closing ${++names}`, storage: watched.driver });
  const people = new database.Collection({ name: 'people', type: 'DOCUMENT_BASED' });
  await people.insertMany(DOCUMENTS);
  await people.save();
  expect(watched.checkpoints).toHaveLength(0);
  return { ...watched, database };
}

test('closing writes the checkpoint that waits for a rest', async () => {
  const { database, checkpoints } = await filled();
  await database.close();
  expect(checkpoints.length).toBeGreaterThan(0);
});

test('deleting the database writes none', async () => {
  const { database, checkpoints } = await filled();
  await database.destroy();
  expect(checkpoints).toHaveLength(0);
});
