import { afterEach, expect, test, vi } from 'vitest';
import { memoryDriver } from '../../../src/storage/drivers/memory-driver.ts';
import { movedTo, openOpfs } from '../../../src/storage/opfs/open-opfs.ts';

afterEach(() => void vi.unstubAllGlobals());

const failure = new DOMException('An unknown transient reason.', 'UnknownError');

/** A browser whose file system does not open. */
function refuseFiles(): void {
  const handles = { prototype: { createSyncAccessHandle: () => undefined } };
  vi.stubGlobal('FileSystemFileHandle', handles);
  vi.stubGlobal('navigator', { storage: { getDirectory: () => Promise.reject(failure) } });
}

const events = { damaged: () => undefined };

test('files that do not open and have the data are storage_failed, which is tried again', async () => {
  const indexedDb = memoryDriver();
  const pages = await indexedDb.open('db', events);
  await pages.write([movedTo('opfs', 1)], 'relaxed');
  refuseFiles();
  await expect(openOpfs('db', { events, indexedDb })).rejects.toMatchObject({
    code: 'storage_failed',
    cause: failure,
  });
});

test('files that do not open and have nothing are storage_unavailable: IndexedDB replaces them', async () => {
  refuseFiles();
  await expect(openOpfs('db', { events, indexedDb: memoryDriver() })).rejects.toMatchObject({
    code: 'storage_unavailable',
    cause: failure,
  });
});
