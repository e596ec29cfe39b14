import { expect, test } from 'vitest';
import { encode } from '../../src/codec/capture.ts';
import { encrypted } from '../../src/encryption/index.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { stage } from '../../src/storage/log/replace-log.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { openRecords } from '../storage/record-rig.ts';

test('segments of an import whose tab ended are removed, and are not missed afterwards', async () => {
  const driver = encrypted(memoryDriver(), { key: new Uint8Array(32).fill(1) });
  const first = await openRecords(driver);
  await first.saveEach({ a: 1 });
  const record = new StoredRecord('staged', 9, 0, undefined, encode(2, 'value'));
  const bodies = [record.body as string];
  await stage(first.log, [{ records: [record], bodies, deletes: [], size: 10, blobBytes: 0 }], []);
  const second = await openRecords(driver);
  await second.tidy();
  const third = await openRecords(driver);
  expect(await third.all()).toEqual([['a', 1]]);
});

test('a clear database with a collection named "encryption" is no empty one', async () => {
  const driver = memoryDriver();
  await (await openRecords(driver, { name: 'encryption' })).saveEach({ a: 1 });
  await expect(
    openRecords(encrypted(driver, { key: new Uint8Array(32) }), { name: 'encryption' }),
  ).rejects.toMatchObject({ code: 'not_encrypted' });
  expect(await (await openRecords(driver, { name: 'encryption' })).all()).toEqual([['a', 1]]);
});
