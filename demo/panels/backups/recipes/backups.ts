import type { DocumentCollection } from 'cairndb';

// One small write, whatever the size: what is stored is shared.
export const create = (collection: DocumentCollection, label: string) =>
  collection.createBackup({ label });

// All or nothing. What was there before becomes a backup too.
export const restore = (collection: DocumentCollection, name: string) =>
  collection.loadBackup(name);
