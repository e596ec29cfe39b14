import { OptionError } from '../../errors/errors.ts';
import type { NamedTarget } from '../backup-target.ts';
import { TargetError } from '../calls/target-calls.ts';

/** Lists a directory, which TypeScript's library lacks in some versions. */
interface Entries {
  values(): AsyncIterable<FileSystemHandle>;
}

/**
 * A folder as a target: one that the user has picked by
 * `showDirectoryPicker({ mode: 'readwrite' })`, or one of the origin private file system, which is
 * no backup.
 *
 * @throws {OptionError} for anything but a directory handle.
 */
export function folder(directory: FileSystemDirectoryHandle): NamedTarget {
  if ((directory as Partial<FileSystemDirectoryHandle> | undefined)?.kind !== 'directory')
    throw new OptionError('option_invalid', 'folder() takes a FileSystemDirectoryHandle.', {
      place: 'directory',
    });
  return {
    id: `folder:${directory.name}`,

    async put(path, bytes) {
      const { folders, file } = split(path);
      try {
        let parent = directory;
        for (const name of folders)
          parent = await parent.getDirectoryHandle(name, { create: true });
        const handle = await parent.getFileHandle(file, { create: true });
        // What is written takes the place of the file when it is closed: all or nothing.
        const writable = await handle.createWritable();
        try {
          await writable.write(bytes as Uint8Array<ArrayBuffer>);
        } catch (error) {
          await writable.abort();
          throw error;
        }
        await writable.close();
      } catch (error) {
        throw isMissing(error) ? gone(directory, error) : error;
      }
    },

    async get(path) {
      const { folders, file } = split(path);
      try {
        const parent = await find(directory, folders);
        const found = await (await parent.getFileHandle(file)).getFile();
        return found.size > 0 ? new Uint8Array(await found.arrayBuffer()) : undefined;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    async list(prefix) {
      try {
        await (directory as unknown as Entries).values()[Symbol.asyncIterator]().next();
      } catch (error) {
        throw isMissing(error) ? gone(directory, error) : error;
      }
      const { folders } = split(prefix);
      const paths: string[] = [];
      try {
        await addFiles(await find(directory, folders), prefix, paths);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      return paths;
    },

    async delete(path) {
      const { folders, file } = split(path);
      try {
        await (await find(directory, folders)).removeEntry(file);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

async function find(
  directory: FileSystemDirectoryHandle,
  folders: readonly string[],
): Promise<FileSystemDirectoryHandle> {
  let found = directory;
  for (const name of folders) found = await found.getDirectoryHandle(name);
  return found;
}

/** Without empty files, which an interrupted `put` leaves: no object of a backup is empty. */
async function addFiles(
  folder: FileSystemDirectoryHandle,
  prefix: string,
  paths: string[],
): Promise<void> {
  for await (const entry of (folder as unknown as Entries).values()) {
    const path = prefix + entry.name;
    if (entry.kind === 'directory')
      await addFiles(entry as FileSystemDirectoryHandle, `${path}/`, paths);
    else if ((await (entry as FileSystemFileHandle).getFile()).size > 0) paths.push(path);
  }
}

function split(path: string): { folders: string[]; file: string } {
  const folders = path.split('/');
  const file = folders.pop() as string;
  return { folders, file };
}

function isMissing(error: unknown): boolean {
  return (error as Partial<DOMException>).name === 'NotFoundError';
}

function gone({ name }: FileSystemDirectoryHandle, cause: unknown): TargetError {
  const message = `The folder "${name}" is gone: let the user pick it again.`;
  return new TargetError('target_unreachable', message, { place: name, cause });
}
