import { expect, test } from 'vitest';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';

/** Notes the keys of a store that are read by name. */
function noting(driver: StorageDriver, store: string, read: string[]): StorageDriver {
  return {
    ...driver,
    async open(...given) {
      const storage = await driver.open(...given);
      const { getMany } = storage;
      storage.getMany = (from, keys) => {
        if (from === store) read.push(...keys.map(String));
        return getMany.call(storage, from, keys);
      };
      return storage;
    },
  };
}

test.each([true, false])('loadBackup() reads each document once, cached: %s', async (caching) => {
  const driver = memoryDriver();
  const options = { name: 'things', type: 'DOCUMENT_BASED', caching } as const;
  const writing = openClient(driver).client;
  const things = new writing.Collection<{ pad: string }>(options);
  const pad = 'p'.repeat(10_000);
  await things.insertMany(Array.from({ length: 60 }, (_, n) => ({ _id: `${n}`, pad })));
  const backup = await things.createBackup();
  await writing.close();

  const read: string[] = [];
  const { client } = openClient(noting(driver, 'bodies', read));
  const again = new client.Collection<{ pad: string }>(options);
  await again.ready;
  read.length = 0;
  await again.loadBackup(backup);
  const ofDocuments = read.filter((key) => /^things,\d+$/.test(key));
  expect(ofDocuments.length).toBeGreaterThan(3);
  expect(ofDocuments).toEqual([...new Set(ofDocuments)]);
  expect((await again.filter({})).length).toBe(60);
  // A cached collection has them from that one read.
  const readLater = read.length > ofDocuments.length;
  expect(readLater).toBe(!caching);
  await client.close();
});
