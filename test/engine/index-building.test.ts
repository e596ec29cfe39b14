import { expect, test } from 'vitest';
import { nextTurn } from '../../src/async/next-turn.ts';
import { StorageError } from '../../src/errors/errors.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { type FaultMoment, faultyDriver } from '../storage/faulty-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';

const things = { name: 'things', type: 'DOCUMENT_BASED' } as const;
const indexed = { ...things, indexes: ['n'] };

test.each<FaultMoment>(['before', 'after'])(
  'reads work although a new index cannot be stored: the write fails %s it took effect',
  async (when) => {
    const driver = faultyDriver();
    const { client } = openClient(driver);
    await new client.Collection<{ n: number }>(things).insertMany([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await client.close();
    const full = new StorageError('storage_full', 'There is no room.');
    driver.inject({ call: 'write', when, error: full });
    const second = openClient(driver).client;
    const errors: unknown[] = [];
    second.on('error', ({ error }) => errors.push(error));
    const open = new second.Collection<{ n: number }>(indexed);
    expect((await open.filter({ n: { $gt: 1 } })).map(({ n }) => n)).toEqual([2, 3]);
    expect(await open.explain({ n: 2 })).toMatchObject({ documents_examined: 0, returned: 1 });
    await expect.poll(() => errors).toEqual([full]);
    await open.insert({ n: 4 });
    await second.close();
    const third = openClient(driver).client;
    const again = new third.Collection<{ n: number }>(indexed);
    expect((await again.filter({ n: { $gt: 1 } })).map(({ n }) => n)).toEqual([2, 3, 4]);
    await third.close();
  },
);

test('a unique index that is declared during an import refuses duplicates right after it', async () => {
  let declare: (() => void) | undefined;
  const driver = changedDriver(memoryDriver(), (storage) => ({
    async getMany(store, keys) {
      if (declare && store === 'segments' && keys.some(([name]) => name === 'things')) {
        declare();
        declare = undefined;
        // Meanwhile its index is built over the documents that the import replaces.
        for (let turn = 0; turn < 20; turn++) await nextTurn();
      }
      return storage.getMany(store, keys);
    },
  }));
  const { client } = openClient(driver);
  const source = new client.Collection<{ n: number }>({ ...things, name: 'source' });
  await source.insertMany(Array.from({ length: 1000 }, (_, n) => ({ n })));
  const file = await new Response(await source.exportBackup(await source.createBackup())).blob();
  const first = new client.Collection<{ n: number }>(things);
  await first.insert({ n: -1 });
  let inserted: Promise<PromiseSettledResult<unknown>[]> | undefined;
  declare = () => {
    const indexes = [{ fields: 'n', unique: true }] as const;
    const second = new client.Collection<{ n: number }>({ ...things, indexes });
    inserted = Promise.allSettled([{ n: 5000 }, { n: 5000 }].map((one) => second.insert(one)));
  };
  await first.importBackup(file);
  const results = (await inserted) ?? [];
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await first.count({ n: 5000 })).toBe(1);
  await client.close();
});

test('a key that two documents share only in the middle of a change violates no index that is being checked', async () => {
  for (let turns = 0; turns < 30; turns++) {
    const { client } = openClient(faultyDriver());
    const first = new client.Collection<{ position: number }>(things);
    await first.insertMany(Array.from({ length: 4000 }, (_, position) => ({ position })));
    const indexes = [{ fields: 'position', unique: true }] as const;
    const second = new client.Collection<{ position: number }>({ ...things, indexes });
    const counted = second.count({ position: { $gte: 0 } });
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    await first.patchMany({}, { $inc: { position: 1 } });
    expect(await counted).toBe(4000);
    await expect(second.insert({ position: 7 })).rejects.toMatchObject({
      code: 'unique_violation',
    });
    await client.close();
  }
});
