import type { StorageError } from '../../errors/storage-error.ts';
import type { Storage, StorageDriver, StorageEvents } from '../drivers/driver.ts';
import { databaseTaken } from '../drivers/epoch.ts';
import { isMoved, MOVED_KEY } from '../drivers/moved.ts';
import { findHome } from './database-home.ts';
import { openExclusively, whyNoFiles } from './exclusive-files.ts';
import { FileDatabase } from './file-database.ts';
import { fileErrorOf, filesUnavailable } from './opfs-failure.ts';
import { OpfsStorage } from './opfs-storage.ts';
import { moveToFiles, moveToIndexedDb } from './storage-migration.ts';

/** How to open a database in files. */
export interface OpfsOptions {
  readonly events: StorageEvents;
  /** IndexedDB: it has the recovery records of pages, and the data of a database that is not migrated. */
  readonly indexedDb: StorageDriver;
  /** Where to move the data first. */
  readonly moveTo?: 'opfs' | 'indexeddb' | undefined;
}

/** An opened database. */
export interface OpenedHome {
  readonly storage: Storage;
  readonly kind: 'opfs' | 'indexeddb';
  /** Why it is in IndexedDB. */
  readonly why: string | undefined;
}

interface OpenFiles {
  readonly database: FileDatabase;
  readonly stop: () => void;
}

/** By name: in one thread all share the files, which can be opened once. */
const open = new Map<string, { users: number; readonly files: Promise<OpenFiles> }>();

/**
 * Opens a database in files of the origin private file system; in IndexedDB where its data is still there.
 *
 * @throws {StorageError} `storage_unavailable` where there are no such files.
 */
export async function openOpfs(name: string, options: OpfsOptions): Promise<OpenedHome> {
  const why = whyNoFiles();
  if (why) throw filesUnavailable(why);
  const { events, indexedDb, moveTo } = options;
  let inFiles = false;
  const [pages, files] = await Promise.allSettled([
    // Of files the loss of IndexedDB takes nothing but recovery records.
    indexedDb.open(name, { ...events, damaged: (error) => inFiles || events.damaged(error) }),
    use(name, events),
  ]);
  if (pages.status === 'rejected') {
    await release(name);
    throw pages.reason;
  }
  try {
    if (files.status === 'rejected') throw await whyClosed(files.reason, pages.value);
    const home = await settle(files.value.database, pages.value, options);
    if (home.in === 'files') {
      inFiles = true;
      const { database } = files.value;
      database.notes.pages.add(pages.value);
      const storage = new OpfsStorage(database, pages.value, () => release(name));
      return { storage, kind: 'opfs', why: undefined };
    }
    await release(name, home.isMoved);
    return { storage: pages.value, kind: 'indexeddb', why: moveTo ? undefined : home.why };
  } catch (error) {
    await Promise.all([release(name), pages.value.close()]);
    throw error;
  }
}

/** Files that have the data are there: that they cannot be opened may pass. */
async function whyClosed(error: StorageError, pages: Storage): Promise<StorageError> {
  if (error.code !== 'storage_unavailable') return error;
  const [marker] = await pages.getMany('leadership', [MOVED_KEY]);
  return isMoved(marker) ? fileErrorOf(error.cause, 'opening') : error;
}

async function settle(
  files: FileDatabase,
  pages: Storage,
  { events, moveTo }: OpfsOptions,
): Promise<{ in: 'files' } | { in: 'indexeddb'; why: string; isMoved: boolean }> {
  const home = await findHome(files, pages, events.damaged);
  if (home.in === 'indexeddb') {
    if (moveTo !== 'opfs') return { ...home, isMoved: false };
    await moveToFiles(files, pages);
    return { in: 'files' };
  }
  if (moveTo !== 'indexeddb') return home;
  await moveToIndexedDb(files, pages);
  return { in: 'indexeddb', why: '', isMoved: true };
}

async function use(name: string, events: StorageEvents): Promise<OpenFiles> {
  const known = open.get(name);
  if (known) known.users++;
  const used = known ?? { users: 1, files: openFiles(name, events) };
  open.set(name, used);
  return used.files;
}

async function openFiles(name: string, { damaged }: StorageEvents): Promise<OpenFiles> {
  let database: FileDatabase | undefined;
  const { files, stop } = await openExclusively(name, () => {
    stop();
    // A write that has begun ends before: the next engine then reads it.
    database?.end(databaseTaken()).catch(() => undefined);
  });
  try {
    database = new FileDatabase(files, damaged);
  } catch (error) {
    stop();
    for (const file of files) file.close();
    throw error;
  }
  return { database, stop };
}

/** The last user closes the files. @param isGone Whether nothing of them may be kept. */
async function release(name: string, isGone = false): Promise<void> {
  const used = open.get(name);
  if (!used || --used.users > 0) return;
  open.delete(name);
  const files = await used.files.catch(() => undefined);
  files?.stop();
  await files?.database.end(undefined, isGone);
}
