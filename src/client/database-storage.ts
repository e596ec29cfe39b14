import type { CollectionUsage } from '../backup/usage.ts';

/** The browser's storage of a database. The answer is `'unsupported'` where a browser has no API for it. */
export interface DatabaseStorage {
  /**
   * Asks the browser to keep the data of this site until the user removes it. Chromium and WebKit decide by how
   * the site is used, Firefox asks the user.
   *
   * @returns whether it will. Source: https://storage.spec.whatwg.org/#dom-storagemanager-persist
   */
  persist(): Promise<boolean | 'unsupported'>;
  /** Storage use and quota. */
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
  /** Used by this site, as the browser counts it. */
  readonly usage: number | 'unsupported';
  /** Available to this site. */
  readonly quota: number | 'unsupported';
  /** Rough bytes of each collection, before the browser compresses them. */
  readonly collections: readonly CollectionUsage[];
}
