import { StorageError } from '../../errors/errors.ts';
import { FOLDER, fileErrorOf, filesUnavailable, folderOf } from './delete-files.ts';
import type { SyncFile } from './frames/sync-file.ts';

/** An earlier engine releases its files when it is asked to, or with its worker. */
const WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/** TypeScript knows it in its library for workers alone. */
interface LockableHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<SyncFile>;
}

/** The files of a database, which nobody else can open until they are closed. */
export interface ExclusiveFiles {
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
export async function openExclusively(name: string, asked: () => void): Promise<ExclusiveFiles> {
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
export function whyNoFiles(): string | undefined {
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
