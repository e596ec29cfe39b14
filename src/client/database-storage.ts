import type { CollectionUsage } from '../backup/usage.ts';

/** What the browser lets a database keep. What a browser lacks answers `'unsupported'`. */
export interface DatabaseStorage {
  /**
   * Asks the browser to keep the data of this site until the user removes it. Chromium and WebKit decide by how
   * the site is used, Firefox asks the user.
   *
   * @returns whether it will. Source: https://storage.spec.whatwg.org/#dom-storagemanager-persist
   */
  persist(): Promise<boolean | 'unsupported'>;
  /** What is used, and how much there may be. */
  estimate(): Promise<StorageUse>;
  /**
   * `persistent`: kept until the user removes it. `best_effort`: the browser may evict it when it needs room.
   * `memory`: gone when the page or worker ends. `unsupported`: the browser does not say.
   */
  readonly status: Promise<StorageStatus>;
}

export type StorageStatus = 'persistent' | 'best_effort' | 'memory' | 'unsupported';

/** Bytes in use. */
export interface StorageUse {
  /** By everything that this site stores, as the browser counts it. */
  readonly usage: number | 'unsupported';
  /** How much this site may store. */
  readonly quota: number | 'unsupported';
  /** Each collection of this database: rough bytes, before the browser compresses them. */
  readonly collections: readonly CollectionUsage[];
}
