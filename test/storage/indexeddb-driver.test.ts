import { describe, expect, test, vi } from 'vitest';
import { deletableIndexedDb } from '../../src/storage/drivers/deletable-indexeddb.ts';
import { storageDriverSuite } from '../../src/testing/index.ts';

storageDriverSuite(deletableIndexedDb(), { describe, test });

test('writes of the engine do not lock the stores of recovery records', async () => {
  const storage = await deletableIndexedDb().open('recovery', { damaged: () => undefined });
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
  const storage = await deletableIndexedDb().open('no-keys', { damaged: () => undefined });
  const begun = vi.spyOn(IDBDatabase.prototype, 'transaction');
  expect(await storage.getMany('snapshots', [])).toEqual([]);
  expect(begun).not.toHaveBeenCalled();
  begun.mockRestore();
  await storage.close();
});

test('deletions of adjacent numbers are one request', async () => {
  const storage = await deletableIndexedDb().open('ranges', { damaged: () => undefined });
  const keys = Array.from({ length: 100 }, (_, index) => ['a', index + 1]);
  const each = (type: 'put' | 'delete') =>
    keys.map((key) => ({ type, store: 'segments', key, value: {} }) as const);
  await storage.write(each('put'), 'relaxed');
  const deleted = vi.spyOn(IDBObjectStore.prototype, 'delete');
  const gap = { type: 'delete', store: 'segments', key: ['a', 200] } as const;
  await storage.write([...each('delete'), gap], 'relaxed');
  expect(deleted).toHaveBeenCalledTimes(2);
  expect(await storage.keys('segments', [])).toEqual([]);
  deleted.mockRestore();
  await storage.close();
});
