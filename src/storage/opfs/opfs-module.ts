import type { StorageError } from '../../errors/storage-error.ts';
import type { OpenedHome, OpfsOptions } from './open-opfs.ts';

/** What the script of `storage: 'opfs'` exports, which a worker loads when it is requested. */
export interface OpfsModule {
  /**
   * @param options With the worker's own class of errors: the script has a copy of its own.
   * @throws {StorageError} `storage_unavailable` where there are no files.
   */
  openOpfs(name: string, options: ModuleOptions): Promise<OpenedHome>;
}

export interface ModuleOptions extends OpfsOptions {
  readonly StorageError: typeof StorageError;
}
