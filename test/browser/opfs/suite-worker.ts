/** Runs the suite of storage drivers in a worker: pages have no sync access handles. */

import type { StorageDriver } from '../../../src/storage/drivers/driver.ts';
import { indexedDbDriver } from '../../../src/storage/drivers/indexeddb-driver.ts';
import { openOpfs } from '../../../src/storage/opfs/open-opfs.ts';
import { storageDriverCases } from '../../../src/testing/driver-suite/storage-driver-suite.ts';

const driver: StorageDriver = {
  kind: 'opfs',
  open: async (name, events) => {
    const { storage, kind } = await openOpfs(name, { events, indexedDb: indexedDbDriver() });
    if (kind !== 'opfs') throw new Error(`The storage is ${kind}.`);
    return storage;
  },
};

addEventListener('message', async ({ data }: MessageEvent<string>) => {
  const found = storageDriverCases.find(({ name }) => name === data);
  try {
    if (!found) throw new Error('There is no such case.');
    await found.run(driver);
    postMessage({ name: data });
  } catch (error) {
    const { message, stack, code } = error as Error & { code?: string };
    postMessage({ name: data, failure: `${code ?? ''} ${message}\n${stack}` });
  }
});
