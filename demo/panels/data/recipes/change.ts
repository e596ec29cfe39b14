import type { DocumentCollection, Stored } from 'cairndb';
import { valueAt } from '../../../database/table.ts';

// Each change comes with the call that takes it back.
export async function edit(all: DocumentCollection, row: Stored, path: string, value: unknown) {
  const before = valueAt(row, path);
  await all.patch(row._id, { [path]: value });
  return () => all.patch(row._id, { [path]: before });
}

export async function archive(all: DocumentCollection, row: Stored) {
  await all.archive(row._id);
  return () => all.unarchive(row._id);
}

export async function unarchive(all: DocumentCollection, row: Stored) {
  await all.unarchive(row._id);
  return () => all.archive(row._id);
}

export async function remove(all: DocumentCollection, row: Stored) {
  await all.delete(row._id);
  return () => all.insert(row);
}

// After Drop({ backup: true }) a backup stays.
export async function restoreNewest(all: DocumentCollection) {
  const [newest] = await all.listBackups();
  if (newest) await all.loadBackup(newest.name);
}
