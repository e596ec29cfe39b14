import { expect, test } from 'vitest';
import { StorageError } from '../../src/errors/errors.ts';
import { directoryKey, noCheckpoint } from '../../src/storage/checkpoint/checkpoint-format.ts';
import type { StorageOperation } from '../../src/storage/drivers/driver.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

const NAME = 'people';

test('after a directory that may be stored or not, the next checkpoint begins with none', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver, undefined, 1000);
  const people = new client.Collection<{ city: string }>({
    ...{ name: NAME, type: 'DOCUMENT_BASED', indexes: ['city'] },
  });
  const isDirectory = (one: StorageOperation) =>
    one.type === 'put' && JSON.stringify(one.key) === JSON.stringify(directoryKey(NAME));
  /** Saves more documents. */
  const grow = async () => {
    const pad = 'x'.repeat(300);
    await people.insertMany(Array.from({ length: 100 }, () => ({ city: 'c', pad })));
    await people.save();
  };
  /** Lets the collection rest. @returns what its checkpoint has written. */
  const rest = async () => {
    const before = driver.batches.length;
    await clock.advance(2000);
    for (let turn = 0; turn < 40; turn++) await settled();
    return driver.batches.slice(before).flat();
  };
  await grow();
  expect(await rest()).toContainEqual(noCheckpoint(NAME));
  await grow();
  const error = new StorageError('storage_failed', 'The answer was lost.');
  // The pages are the first write, the directory is the second.
  driver.inject({ call: 'write', when: 'after', after: 1, times: 1, error });
  const failed = await rest();
  expect(failed.some(isDirectory)).toBe(true);
  expect(failed).not.toContainEqual(noCheckpoint(NAME));
  driver.heal();
  await grow();
  const after = await rest();
  expect(after).toContainEqual(noCheckpoint(NAME));
  expect(after.some(isDirectory)).toBe(true);
  await client.close();
});
