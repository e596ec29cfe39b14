import type { StorageError } from '../../errors/errors.ts';
import {
  DATABASE_ID,
  DESTROYED_KEY,
  databaseIdOf,
  destroyedIds,
  isMoved,
  MOVED_KEY,
  movedTo,
} from '../drivers/database-id.ts';
import {
  type Durability,
  STORE_NAMES,
  type Storage,
  type StorageDriver,
  type StorageEvents,
  type StorageKey,
  type StorageOperation,
  type StorageRange,
  type StoreName,
} from '../drivers/driver.ts';
import { ENCRYPTION_KEY } from '../drivers/encryption-key.ts';
import { databaseTaken, EPOCH_KEY, epochOf } from '../drivers/epoch.ts';
import { openExclusively, whyNoFiles } from './exclusive-files.ts';
import { EXTENT_KEY, forgetExtent, noteExtent } from './extent-notes.ts';
import { FileDatabase } from './file-database.ts';
import { databaseClosed, fileErrorOf, filesUnavailable, opfsFileDamaged } from './opfs-failure.ts';

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

interface OpenFiles {
  readonly database: FileDatabase;
  readonly stop: () => void;
}

/** By name: in one thread all share the files, which can be opened once. */
const open = new Map<string, { users: number; readonly files: Promise<OpenFiles> }>();

/**
 * One opening of a database in files. Recovery records are in `pages`, IndexedDB: a page that ends
 * can write nothing else, and no file.
 */
class OpfsStorage implements Storage {
  readonly #files: FileDatabase;
  readonly #pages: Storage;
  readonly #release: () => Promise<void>;
  #isClosed = false;

  /** @param release Called once, when it is closed. */
  constructor(files: FileDatabase, pages: Storage, release: () => Promise<void>) {
    this.#files = files;
    this.#pages = pages;
    this.#release = release;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#in(store).getMany(store, keys);
  }

  list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    return this.#in(store).list(store, range);
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    return this.#in(store).keys(store, prefix);
  }

  getItem(store: StoreName, key: StorageKey, field: string, index: number): Promise<unknown> {
    return this.#isClosed ? CLOSED.getItem() : this.#files.getItem(store, key, field, index);
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    const store = Array.isArray(operations) ? operations[0]?.store : undefined;
    return this.#in(store).write(operations, durability);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      // The last one notes there how long the file is.
      await this.#release();
    } finally {
      this.#files.notes.pages.delete(this.#pages);
      await this.#pages.close();
    }
  }

  #in(store: StoreName | undefined): Pick<Storage, 'getMany' | 'list' | 'keys' | 'write'> {
    if (this.#isClosed) return CLOSED;
    return store === 'recovery' ? this.#pages : this.#files;
  }
}

/**
 * Opens a database in files of the origin private file system; in IndexedDB where its data is still
 * there.
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

/** The stores that move whole. Recovery records are in IndexedDB always. */
const MOVING = STORE_NAMES.filter((name) => name !== 'recovery' && name !== 'leadership');
/** Segments copied at a time: about 2 MB. */
const CHUNK = 20;
const deleteKeyRecord: StorageOperation = {
  ...{ type: 'delete', store: 'leadership', key: ENCRYPTION_KEY },
};

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

/** Where a database is: its files, or IndexedDB with the reason. */
type Home = { readonly in: 'files' } | { readonly in: 'indexeddb'; readonly why: string };

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
  await pages.write([movedTo('opfs', files.epoch), noteExtent(files.extent)], 'strict');
  return { in: 'files' };
}

async function refuse(): Promise<never> {
  throw databaseClosed();
}

const CLOSED = { getMany: refuse, list: refuse, keys: refuse, write: refuse, getItem: refuse };

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
  const keys = [EPOCH_KEY, ENCRYPTION_KEY];
  const [stored, record, id] = await pages.getMany('leadership', [...keys, DATABASE_ID]);
  const leadership = putFound(keys, [stored, record]);
  const forget: StorageOperation = { type: 'deletePrefix', store: 'recovery', prefix: [] };
  // All must survive a power cut before IndexedDB forgets it.
  await files.write([...leadership, forget], 'strict');
  const since = epochOf(stored) + 1;
  // The key that is left here would be opened by an old password.
  const moved = [movedTo('opfs', since), noteExtent(files.extent)];
  await pages.write([...emptied(), deleteKeyRecord, ...moved], 'strict');
  await files.settle(since, databaseIdOf(id));
}

/**
 * Moves a database from files to IndexedDB, all or nothing, in one transaction of IndexedDB. The
 * files are to be removed then: without a marker, and of an older epoch, they do not count.
 */
export async function moveToIndexedDb(files: FileDatabase, pages: Storage): Promise<void> {
  const value = { epoch: files.epoch + 1, claim: '' };
  const keyRecord = await files.getMany('leadership', [ENCRYPTION_KEY]);
  function* operations(): Generator<StorageOperation> {
    yield* emptied();
    for (const { store, key, value, size } of files.everything())
      if (store !== 'leadership') yield { type: 'put', store, key, value, size };
    yield { type: 'put', store: 'leadership', key: EPOCH_KEY, value };
    yield* putFound([ENCRYPTION_KEY], keyRecord);
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
