import { expect, test } from 'vitest';
import { StorageError } from '../../src/errors/storage-error.ts';
import { type FaultMoment, faultyDriver } from '../storage/faulty-driver.ts';
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
