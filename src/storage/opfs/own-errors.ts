import type { StorageError } from '../../errors/errors.ts';
import type { Storage } from '../drivers/driver.ts';
import { type OpenedHome, type OpfsOptions, openOpfs } from './open-opfs.ts';
import { translatedStorage, translator } from './translated-storage.ts';

/** As {@link openOpfs}, with errors of the caller's class instead of this script's. */
export async function openTranslated(name: string, options: ModuleOptions): Promise<OpenedHome> {
  const { events } = options;
  const { translated, translating } = translator(options.StorageError);
  const open = translating(openOpfs);
  const damaged = (error: StorageError) => events.damaged(translated(error) as StorageError);
  const opened = await open(name, { ...options, events: { ...events, damaged } });
  // IndexedDB is the caller's, with its errors.
  if (opened.kind === 'indexeddb') return opened;
  const storage: Storage = translatedStorage(opened.storage, translating);
  return { ...opened, storage };
}

/** What the script of `storage: 'opfs'` exports, which a worker loads when it is requested. */
export interface OpfsModule {
  /**
   * @param options With the worker's own class of errors: the script has a copy of its own.
   * @throws {StorageError} `storage_unavailable` where there are no files.
   */
  openOpfs(name: string, options: ModuleOptions): Promise<OpenedHome>;
}

interface ModuleOptions extends OpfsOptions {
  readonly StorageError: typeof StorageError;
}
