import { describe, expect, test, vi } from 'vitest';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';
import { storageDriverSuite } from '../../src/testing/index.ts';

storageDriverSuite(indexedDbDriver(), { describe, test });

test('writes of the engine do not lock the stores of recovery records', async () => {
  const storage = await indexedDbDriver().open('recovery', { damaged: () => undefined });
  const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
  const locked = () => begun.mock.calls.flatMap(([stores]) => stores as string | string[]);
  await storage.write([{ type: 'put', store: 'segments', key: ['a'], value: {} }], 'relaxed');
  expect(locked()).toContain('segments');
  expect(locked()).not.toContain('recovery');
  begun.mockClear();
  await storage.write([{ type: 'delete', store: 'recovery', key: ['page.1', 1] }], 'relaxed');
  expect(locked()).toEqual(['recovery']);
  begun.mockRestore();
  await storage.close();
});

test('a read of no keys begins no transaction', async () => {
  const storage = await indexedDbDriver().open('no-keys', { damaged: () => undefined });
  const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
  expect(await storage.getMany('snapshots', [])).toEqual([]);
  expect(begun).not.toHaveBeenCalled();
  begun.mockRestore();
  await storage.close();
});
