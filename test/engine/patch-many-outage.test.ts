import { expect, test } from 'vitest';
import { StorageError } from '../../src/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';

test('patchMany passes errors of storage on as they are, and blames no document', async () => {
  const driver = faultyDriver();
  const things = { name: 'things', type: 'DOCUMENT_BASED', caching: false } as const;
  const first = openClient(driver).client;
  await new first.Collection<{ pad: string }>(things).insert({ pad: 'p'.repeat(200_000) });
  await first.close();
  const { client } = openClient(driver);
  const opened = new client.Collection<{ pad: string }>(things);
  await opened.ready;
  const error = new StorageError('storage_lost', 'The test took the storage away.');
  driver.inject({ call: 'getMany', when: 'before', error });
  await expect(opened.patchMany({}, { pad: '' })).rejects.toBe(error);
  expect(error.message).toBe('The test took the storage away.');
  expect(await opened.patchMany({}, { pad: '' })).toBe(1);
});
