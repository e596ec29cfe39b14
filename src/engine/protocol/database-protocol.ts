import type { CollectionUsage } from '../../backup/usage.ts';

/** The operations on a whole database; their handle is {@link DATABASE}. */
export interface DatabaseOperations {
  /** Begins to write all collections as one file. */
  exportAll: { ask: object; reply: { readonly cursor: number } };
  /** As `importBackup`, of a file of several collections. */
  importAll: { ask: { call: number; merge: boolean }; reply: number };
  usage: { ask: object; reply: readonly CollectionUsage[] };
}

/** The handle of the database itself: collections have other numbers. */
export const DATABASE = 0;
