import { deleteIndexedDb } from './delete-indexeddb.ts';
import type { StorageDriver } from './driver.ts';
import { indexedDbDriver } from './indexeddb-driver.ts';

/** The driver of a page; an engine deletes nothing, and its worker does without this code. */
export function deletableIndexedDb(): StorageDriver {
  return { ...indexedDbDriver(), delete: deleteIndexedDb };
}
