import { StorageError } from '../../errors/errors.ts';
import type { StorageCalls } from '../drivers/around-storage.ts';
import {
  DATABASE_ID,
  DESTROYED_KEY,
  databaseIdOf,
  destroyedIds,
  isMoved,
  MOVED_KEY,
  type Moved,
  putDatabaseId,
} from '../drivers/database-id.ts';
import {
  STORE_NAMES,
  type Storage,
  type StorageDriver,
  type StorageEvents,
  type StorageKey,
  type StorageOperation,
  type StoreName,
} from '../drivers/driver.ts';
import { ENCRYPTION_KEY } from '../drivers/encryption-key.ts';
import { databaseTaken, EPOCH_KEY, epochOf } from '../drivers/epoch.ts';
import { openedStorage, SharedOpenings } from '../drivers/shared-database.ts';
import {
  FOLDER,
  fileErrorOf,
  filesUnavailable,
  folderOf,
  opfsFileDamaged,
} from './delete-files.ts';
import { EXTENT_KEY, forgetExtent, noteExtent } from './extent-notes.ts';
import { FileDatabase } from './file-database.ts';
import type { SyncFile } from './frames/sync-file.ts';

/** How to open a database in files. */
export interface OpfsOptions {
  readonly events: StorageEvents;
  /**
   * IndexedDB: it has the recovery records of pages, and the data of a database that is not
   * migrated.
   */
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

/** In one thread all share the files, which can be opened once. */
const openings = new SharedOpenings<FileDatabase>();

/**
 * The calls of a database in files. Recovery records are in `pages`, IndexedDB: a page that ends
 * can write nothing else, and no file.
 */
function beside(files: FileDatabase, pages: Storage): StorageCalls {
  const of = (store: StoreName | undefined) => (store === 'recovery' ? pages : files);
  return {
    getMany: (store, keys) => of(store).getMany(store, keys),
    list: (store, range) => of(store).list(store, range),
    keys: (store, prefix) => of(store).keys(store, prefix),
    getItem: (...item) => files.getItem(...item),
    write(operations, durability) {
      const [first] = Array.isArray(operations) ? operations : [];
      return of(first?.store).write(operations, durability);
    },
  };
}

/**
 * Opens a database in files of the origin private file system; in IndexedDB where its data is still
 * there. docs/decisions/032-opfs.md says why a database has one home.
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
    openings.join(name, () => openFiles(name, events)),
  ]);
  const leave = async (isGone?: boolean): Promise<void> => {
    if (files.status === 'fulfilled') await files.value.leave(isGone);
  };
  if (pages.status === 'rejected') {
    await leave();
    throw pages.reason;
  }
  try {
    if (files.status === 'rejected') throw await whyClosed(files.reason, pages.value);
    const { database } = files.value;
    const home = await settle(database, pages.value, options);
    if (home.in === 'indexeddb') {
      await leave(home.isMoved);
      return { storage: pages.value, kind: home.in, why: moveTo ? undefined : home.why };
    }
    inFiles = true;
    database.notes.pages.add(pages.value);
    const storage = openedStorage(beside(database, pages.value), async () => {
      try {
        // The last one notes there how long the file is.
        await leave();
      } finally {
        database.notes.pages.delete(pages.value);
        await pages.value.close();
      }
    });
    return { storage, kind: 'opfs', why: undefined };
  } catch (error) {
    await Promise.all([leave(), pages.value.close()]);
    throw error;
  }
}

/** Files that have the data are there: that they cannot be opened may pass. */
async function whyClosed(error: StorageError, pages: Storage): Promise<StorageError> {
  if (error.code !== 'storage_unavailable') return error;
  const [marker] = await pages.getMany('leadership', [MOVED_KEY]);
  return isMoved(marker) ? fileErrorOf(error.cause, 'opening') : error;
}

/** The stores that move whole. Recovery records are in IndexedDB always. */
const MOVING = STORE_NAMES.filter((name) => name !== 'recovery' && name !== 'leadership');
/** Segments copied at a time: about 2 MB. */
const CHUNK = 20;
const keyRecord = { store: 'leadership', key: ENCRYPTION_KEY } as const;

async function settle(
  files: FileDatabase,
  pages: Storage,
  { events, moveTo }: OpfsOptions,
): Promise<Home> {
  const home = await findHome(files, pages, events.damaged);
  if (home.in === 'indexeddb') {
    if (moveTo !== 'opfs') return home;
    await moveToFiles(files, pages);
    return { in: 'files' };
  }
  if (moveTo !== 'indexeddb') return home;
  await moveToIndexedDb(files, pages);
  return { in: 'indexeddb', why: '', isMoved: true };
}

async function openFiles(name: string, { damaged }: StorageEvents): Promise<FileDatabase> {
  let database: FileDatabase | undefined;
  const { files, stop } = await openExclusively(name, () => {
    // A write that has begun ends before: the next engine then reads it.
    database?.end(databaseTaken()).catch(() => undefined);
  });
  try {
    database = new FileDatabase(files, damaged, stop);
    return database;
  } catch (error) {
    stop();
    for (const file of files) file.close();
    // A full disk takes no header.
    throw fileErrorOf(error, 'opening');
  }
}

/** Where a database is: its files, or IndexedDB with the reason. */
type Home =
  | { readonly in: 'files' }
  | { readonly in: 'indexeddb'; readonly why: string; readonly isMoved?: boolean };

/**
 * Decides where the data of a database is, and makes an empty one be in files. IndexedDB says so by
 * a marker, so that no engine without files takes the database for an empty one.
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
    if (files.isEmpty)
      damaged(opfsFileDamaged('it is missing, with everything that was stored in it'));
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
  const marks = [movedTo('opfs', files.epoch), noteExtent(files.extent)];
  // Where IndexedDB was reset, it has another id: `destroy()` notes the one that it finds there.
  await pages.write([...marks, putDatabaseId(files.id)], 'strict');
  return { in: 'files' };
}

export function movedTo(to: Moved['to'], epoch: number): StorageOperation {
  return { type: 'put', store: 'leadership', key: MOVED_KEY, value: { to, epoch } };
}

/**
 * Moves a database from IndexedDB to files, all or nothing: it is in IndexedDB until the marker is
 * stored, in the transaction that removes it there. No other engine may run.
 */
export async function moveToFiles(files: FileDatabase, pages: Storage): Promise<void> {
  await files.clear();
  for (const store of MOVING) {
    const keys = await pages.keys(store, []);
    for (let from = 0; from < keys.length; from += CHUNK) {
      const some = keys.slice(from, from + CHUNK);
      const values = await pages.getMany(store, some);
      await files.write(putAll(store, some, values), 'relaxed');
    }
  }
  let isMoved = false;
  while (!isMoved) isMoved = await moveLeadership(files, pages);
}

/** Completes a move to files. @returns `false` where the password was changed meanwhile. */
async function moveLeadership(files: FileDatabase, pages: Storage): Promise<boolean> {
  const keys = [EPOCH_KEY, ENCRYPTION_KEY, DATABASE_ID];
  const found = await pages.getMany('leadership', keys);
  const [stored, record, id] = found;
  const leadership = putFound(keys, found);
  const forget: StorageOperation = { type: 'deletePrefix', store: 'recovery', prefix: [] };
  // All must survive a power cut before IndexedDB forgets it.
  await files.write([...leadership, forget], 'strict');
  const since = epochOf(stored) + 1;
  // The key that is left here would be opened by an old password.
  const check: StorageOperation = { ...keyRecord, type: 'check', epoch: epochOf(record) };
  const forgotten = [...emptied(), { ...keyRecord, type: 'delete' } as const];
  const moved = [movedTo('opfs', since), noteExtent(files.extent)];
  try {
    await pages.write([check, ...forgotten, ...moved], 'strict');
  } catch (error) {
    if ((error as StorageError).code !== 'database_taken') throw error;
    return false;
  }
  // On a full disk the next opening notes it.
  await files.settle(since, databaseIdOf(id)).catch((error: StorageError) => {
    if (error.code !== 'storage_full') throw error;
  });
  return true;
}

/**
 * Moves a database from files to IndexedDB, all or nothing, in one transaction of IndexedDB. The
 * files are to be removed then: without a marker, and of an older epoch, they do not count.
 */
export async function moveToIndexedDb(files: FileDatabase, pages: Storage): Promise<void> {
  const value = { epoch: files.epoch + 1, claim: '' };
  const record = await files.getMany('leadership', [ENCRYPTION_KEY]);
  function* operations(): Generator<StorageOperation> {
    yield* emptied();
    for (const { store, key, value, size } of files.everything())
      if (store !== 'leadership') yield { type: 'put', store, key, value, size };
    yield { type: 'put', store: 'leadership', key: EPOCH_KEY, value };
    yield* putFound([ENCRYPTION_KEY], record);
    yield { type: 'delete', store: 'leadership', key: MOVED_KEY };
    yield forgetExtent;
  }
  await pages.write(operations(), 'strict');
}

function emptied(): StorageOperation[] {
  return MOVING.map((store) => ({ type: 'deletePrefix', store, prefix: [] }));
}

/** Puts what there is of leadership. Of data nothing may be missing. */
function putFound(keys: readonly StorageKey[], values: readonly unknown[]): StorageOperation[] {
  const found = keys.filter((_, index) => values[index] !== undefined);
  return putAll(
    'leadership',
    found,
    values.filter((value) => value !== undefined),
  );
}

function putAll(
  store: StoreName,
  keys: readonly StorageKey[],
  values: readonly unknown[],
): StorageOperation[] {
  return keys.map((key, index) => ({ type: 'put', store, key, value: values[index] as object }));
}

/** An earlier engine releases its files when it is asked to, or with its worker. */
const WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/** TypeScript knows it in its library for workers alone. */
interface LockableHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<SyncFile>;
}

/** The files of a database, which nobody else can open until they are closed. */
interface ExclusiveFiles {
  readonly files: readonly [SyncFile, SyncFile];
  /** Stops listening to who asks for the files. */
  readonly stop: () => void;
}

/**
 * Opens the files of a database, and waits until an earlier engine has released them.
 *
 * @param asked Called when another engine asks for them: it leads now.
 * @throws {StorageError} `storage_unavailable` where there are no such files, `database_busy` where
 *   an earlier engine keeps them.
 */
async function openExclusively(name: string, asked: () => void): Promise<ExclusiveFiles> {
  const folderName = await folderOf(name);
  let folder: FileSystemDirectoryHandle;
  try {
    const root = await navigator.storage.getDirectory();
    const all = await root.getDirectoryHandle(FOLDER, { create: true });
    folder = await all.getDirectoryHandle(folderName, { create: true });
  } catch (cause) {
    throw unavailableOr(cause);
  }
  const channel = new BroadcastChannel(`cairndb files ${folderName}`);
  const opened: SyncFile[] = [];
  try {
    // The first is the lock.
    for (const file of ['first', 'second'])
      opened.push(await openFile(folder, file, () => channel.postMessage('release')));
    channel.onmessage = asked;
    return {
      files: opened as unknown as [SyncFile, SyncFile],
      stop: () => channel.close(),
    };
  } catch (error) {
    for (const file of opened) file.close();
    channel.close();
    throw error;
  }
}

/** The reason why no files can be opened here, as a clause; `undefined` if they may be. */
function whyNoFiles(): string | undefined {
  const { navigator, FileSystemFileHandle } = globalThis as Partial<typeof globalThis>;
  if (typeof navigator?.storage?.getDirectory !== 'function')
    return 'this browser has no origin private file system, or the page is not secure';
  if (FileSystemFileHandle && 'createSyncAccessHandle' in FileSystemFileHandle.prototype)
    return undefined;
  return 'this browser has no sync access handles, or the engine does not run in a worker';
}

async function openFile(
  folder: FileSystemDirectoryHandle,
  name: string,
  ask: () => void,
): Promise<SyncFile> {
  const deadline = performance.now() + WAIT_MS;
  let isTried = false;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await lock(folder, name);
    } catch (cause) {
      const { name } = cause as { name?: string };
      // WebKit says so of files that are open, and of those that it failed to open before.
      const isUnclear = name === 'InvalidStateError';
      if (name !== 'NoModificationAllowedError' && !isUnclear) throw unavailableOr(cause);
      if (performance.now() > deadline) throw filesBusy(cause);
      if (isUnclear && !isTried) await tryAnother(folder);
      isTried = true;
    }
    ask();
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function lock(folder: FileSystemDirectoryHandle, name: string): Promise<SyncFile> {
  const handle = await folder.getFileHandle(name, { create: true });
  const file = await (handle as LockableHandle).createSyncAccessHandle();
  // Older browsers return promises.
  if (typeof file.getSize() === 'number') return file;
  file.close();
  throw filesUnavailable('the sync access handles of this browser are asynchronous');
}

/**
 * @throws {StorageError} `storage_unavailable` where a file that nobody knows cannot be opened
 *   either.
 */
async function tryAnother(folder: FileSystemDirectoryHandle): Promise<void> {
  const name = `probe ${Math.random()}`;
  try {
    (await lock(folder, name)).close();
  } catch (cause) {
    throw unavailableOr(cause);
  } finally {
    await folder.removeEntry(name).catch(() => undefined);
  }
}

function filesBusy(cause: unknown): StorageError {
  return new StorageError(
    'database_busy',
    `Another tab has kept the database files open for ${WAIT_MS / 1000} s: it is frozen, or hangs. Close it and reload.`,
    { cause },
  );
}

/** Private modes have a file system that cannot be opened. */
function unavailableOr(cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const { name, message } = cause as { name?: string; message?: string };
  const error = fileErrorOf(cause, 'opening');
  if (error.code === 'storage_full') return error;
  return filesUnavailable(`opening them failed (${name}: ${message})`, cause);
}
