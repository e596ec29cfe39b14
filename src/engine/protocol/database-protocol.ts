import type { CollectionInfo } from '../../backup/collection-info.ts';
import type { CollectionUsage } from '../../backup/usage.ts';

/** The operations on a whole database; their handle is {@link DATABASE}. */
export interface DatabaseOperations {
  /** Starts the export of all collections as one file. */
  exportAll: { ask: object; reply: { readonly cursor: number } };
  /** Like `importBackup`, for a file of several collections. */
  importAll: { ask: { call: number; merge: boolean }; reply: number };
  collections: { ask: object; reply: readonly CollectionInfo[] };
  rename: { ask: { from: string; to: string }; reply: undefined };
  usage: { ask: object; reply: readonly CollectionUsage[] };
}

/** The handle of the database itself: collections have other numbers. */
export const DATABASE = 0;
