import type { StorageError } from '../../errors/storage-error.ts';
import { DATABASE_ID, DESTROYED_KEY, databaseIdOf, destroyedIds } from '../drivers/database-id.ts';
import type { Storage } from '../drivers/driver.ts';
import { EPOCH_KEY, epochOf } from '../drivers/epoch.ts';
import { isMoved, MOVED_KEY, movedTo } from '../drivers/moved.ts';
import type { FileDatabase } from './file-database.ts';
import { EXTENT_KEY, noteExtent } from './file-extent.ts';
import { fileDamaged } from './opfs-failure.ts';

/** Where a database is: its files, or IndexedDB with the reason. */
export type Home = { readonly in: 'files' } | { readonly in: 'indexeddb'; readonly why: string };

/**
 * Decides where the data of a database is, and makes an empty one be in files. IndexedDB says so by a marker, so that no engine
 * without files takes the database for an empty one.
 *
 * | Marker | Files | IndexedDB | Home |
 * |---|---|---|---|
 * | yes | any | any | files; a migration that was cut short is completed |
 * | no | of a database that was deleted | any | as without files |
 * | no | newer epoch | any | files: IndexedDB was reset |
 * | no | | has collections | IndexedDB: not migrated |
 * | no | | none | files, new |
 *
 * @param damaged Called where the files of a marker are gone.
 */
export async function findHome(
  files: FileDatabase,
  pages: Storage,
  damaged: (error: StorageError) => void,
): Promise<Home> {
  const keys = [EPOCH_KEY, DATABASE_ID, MOVED_KEY, DESTROYED_KEY, EXTENT_KEY];
  const [stored, newest, marker, destroyed, noted] = await pages.getMany('leadership', keys);
  const id = databaseIdOf(newest);
  // `destroy()` could not delete them.
  if (destroyedIds(destroyed).includes(files.id)) await files.clear();
  if (isMoved(marker)) {
    if (files.isEmpty) damaged(fileDamaged('it is missing, with everything that was stored in it'));
    else files.compareWith(noted);
    if (files.since === 0) await files.settle(marker.epoch, id);
    return { in: 'files' };
  }
  const epoch = epochOf(stored);
  if (files.since === 0 || files.epoch <= epoch) {
    const collections = await pages.keys('collections', []);
    if (collections.length > 0) {
      const why =
        "the data of this database is in IndexedDB. migrateStorage({ name, to: 'opfs' }) moves it";
      return { in: 'indexeddb', why };
    }
    // What a migration has left that was cut short.
    await files.clear();
    await files.settle(epoch + 1, id);
  }
  await pages.write([movedTo('opfs', files.epoch), noteExtent(files.extent)], 'strict');
  return { in: 'files' };
}
