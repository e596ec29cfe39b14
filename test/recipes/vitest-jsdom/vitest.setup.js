import { Blob, File } from 'node:buffer';
import { IDBFactory } from 'fake-indexeddb';
import 'fake-indexeddb/auto';
import { afterEach, vi } from 'vitest';

Object.assign(globalThis, { Blob, File }); // nobody can read those of jsdom

afterEach(async () => {
  vi.useRealTimers();
  const { db } = await import('./app/shop.js');
  await db.close();
  vi.resetModules(); // the next test opens the database anew
  globalThis.indexedDB = new IDBFactory(); // and empty
});
