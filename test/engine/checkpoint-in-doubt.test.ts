import { expect, test } from 'vitest';
import { StorageError } from '../../src/errors/storage-error.ts';
import { directoryKey, noCheckpoint } from '../../src/storage/checkpoint/checkpoint-format.ts';
import type { StorageDriver, StorageOperation } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

const NAME = 'people';

test('after a directory that may be stored or not, the next checkpoint begins with none', async () => {
  const inner = memoryDriver();
  let isBroken = false;
  let written: StorageOperation[] = [];
  const isDirectory = (one: StorageOperation) =>
    one.type === 'put' && JSON.stringify(one.key) === JSON.stringify(directoryKey(NAME));
  const driver: StorageDriver = {
    ...inner,
    async open(name, events) {
      const storage = await inner.open(name, events);
      return {
        getMany: (store, keys) => storage.getMany(store, keys),
        list: (store, range) => storage.list(store, range),
        keys: (store, prefix) => storage.keys(store, prefix),
        async write(operations, durability) {
          const all = [...operations];
          await storage.write(all, durability);
          written.push(...all);
          if (isBroken && all.some(isDirectory))
            throw new StorageError('storage_failed', 'The answer was lost.');
        },
        close: () => storage.close(),
      };
    },
  };
  const { client, clock } = openClient(driver, undefined, 1000);
  const people = new client.Collection<{ city: string }>({
    ...{ name: NAME, type: 'DOCUMENT_BASED', indexes: ['city'] },
  });
  const grow = async () => {
    written = [];
    const pad = 'x'.repeat(300);
    await people.insertMany(Array.from({ length: 100 }, () => ({ city: 'c', pad })));
    await people.save();
    await clock.advance(2000);
    for (let turn = 0; turn < 40; turn++) await settled();
    return written;
  };
  expect(await grow()).toContainEqual(noCheckpoint(NAME));
  isBroken = true;
  const failed = await grow();
  expect(failed.some(isDirectory)).toBe(true);
  expect(failed).not.toContainEqual(noCheckpoint(NAME));
  isBroken = false;
  const after = await grow();
  expect(after).toContainEqual(noCheckpoint(NAME));
  expect(after.some(isDirectory)).toBe(true);
  await client.close();
});
