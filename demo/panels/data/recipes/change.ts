import type { DocumentCollection, Stored } from 'cairndb';

// Each change returns a function that undoes it.
export async function edit(
  all: DocumentCollection,
  id: string,
  path: string,
  before: unknown,
  after: unknown,
) {
  await all.patch(id, { [path]: after });
  return () => all.patch(id, { [path]: before });
}

export async function archive(all: DocumentCollection, id: string) {
  await all.archive(id);
  return () => all.unarchive(id);
}

export async function unarchive(all: DocumentCollection, id: string) {
  await all.unarchive(id);
  return () => all.archive(id);
}

export async function remove(all: DocumentCollection, row: Stored) {
  await all.delete(row._id);
  return () => all.insert(row);
}

// Undoes Drop({ backup: true }), which keeps a backup.
export async function restoreNewest(all: DocumentCollection) {
  const [newest] = await all.listBackups();
  if (newest) await all.loadBackup(newest.name);
}
