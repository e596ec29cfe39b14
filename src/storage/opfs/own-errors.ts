import type { StorageError } from '../../errors/errors.ts';
import { aroundStorage, translator } from '../drivers/around-storage.ts';
import { type OpenedHome, type OpfsOptions, openOpfs } from './open-opfs.ts';

/** As {@link openOpfs}, with errors of the caller's class instead of this script's. */
export async function openTranslated(name: string, options: ModuleOptions): Promise<OpenedHome> {
  const { events } = options;
  const { translated, translating } = translator(options.StorageError);
  const damaged = (error: StorageError) => events.damaged(translated(error) as StorageError);
  const opened = await translating(() =>
    openOpfs(name, { ...options, events: { ...events, damaged } }),
  );
  // IndexedDB is the caller's, with its errors.
  if (opened.kind === 'indexeddb') return opened;
  const { storage } = opened;
  const close = () => translating(() => storage.close());
  return { ...opened, storage: aroundStorage(storage, translating, close) };
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
