import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from '../engine/engine-client.ts';

const things = { name: 'things', type: 'DOCUMENT_BASED' } as const;

describe('a backup that a unique index did not check', () => {
  const indexes = [{ fields: 'name', unique: true }];

  /** Two documents of one name: the index came when one had another. */
  async function begin() {
    const driver = memoryDriver();
    const plain = openClient(driver).client;
    const first = new plain.Collection<{ _id?: string; name: string }>(things);
    await first.insertMany(['a', 'a', 'c'].map((name, at) => ({ _id: `${at}`, name })));
    const backup = await first.createBackup();
    await first.patch('0', { name: 'b' });
    await plain.close();
    const indexing = openClient(driver).client;
    await new indexing.Collection({ ...things, indexes }).ready;
    await indexing.close();
    return { driver, backup };
  }

  test('is checked once a handle declares the index again', async () => {
    const { driver, backup } = await begin();
    const plain = openClient(driver).client;
    expect(await new plain.Collection(things).loadBackup(backup)).toBe(true);
    await plain.close();
    const client = openClient(driver).client;
    const again = new client.Collection({ ...things, indexes });
    await expect(again.ready).rejects.toMatchObject({ code: 'unique_violation' });
    await client.close();
  });

  test('is checked by a handle of the same page', async () => {
    const { driver, backup } = await begin();
    const client = openClient(driver).client;
    expect(await new client.Collection(things).loadBackup(backup)).toBe(true);
    const again = new client.Collection({ ...things, indexes });
    await expect(again.ready).rejects.toMatchObject({ code: 'unique_violation' });
    await client.close();
  });
});
