import { StorageError } from '../../errors/storage-error.ts';
import type { Storage } from '../drivers/driver.ts';
import { type OpenedHome, openOpfs } from './open-opfs.ts';
import type { ModuleOptions } from './opfs-module.ts';

/** As {@link openOpfs}, with errors of the caller's class instead of this script's. */
export async function openTranslated(name: string, options: ModuleOptions): Promise<OpenedHome> {
  const { StorageError: Their, events } = options;
  const translated = (error: unknown): unknown => {
    if (!(error instanceof StorageError)) return error;
    const { code, message, place, cause } = error;
    return new Their(code, message, { place, cause });
  };
  const translating = <Arguments extends unknown[], T>(
    call: (...given: Arguments) => Promise<T>,
  ) => {
    return (...given: Arguments): Promise<T> =>
      call(...given).catch((error: unknown) => {
        throw translated(error);
      });
  };
  const open = translating(openOpfs);
  const damaged = (error: StorageError) => events.damaged(translated(error) as StorageError);
  const opened = await open(name, { ...options, events: { damaged } });
  // IndexedDB is the caller's, with its errors.
  if (opened.kind === 'indexeddb') return opened;
  const files = opened.storage;
  const getItem = files.getItem?.bind(files);
  const storage: Storage = {
    getMany: translating((...given) => files.getMany(...given)),
    list: translating((...given) => files.list(...given)),
    keys: translating((...given) => files.keys(...given)),
    getItem: getItem && translating(getItem),
    write: translating((...given) => files.write(...given)),
    close: translating(() => files.close()),
  };
  return { ...opened, storage };
}
