import type { DocumentCollection } from 'cairndb';

// One small write, whatever the size: a backup shares the stored data.
export const create = (collection: DocumentCollection, label: string) =>
  collection.createBackup({ label });

// Atomic. The replaced state becomes a backup as well.
export const restore = (collection: DocumentCollection, name: string) =>
  collection.loadBackup(name);
