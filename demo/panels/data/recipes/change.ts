import type { DocumentCollection } from 'cairndb';
import type { UndoHistory } from 'cairndb/undo';

// history = undo(db, { collections: [all] })
// Each step has a label, and takes back what this tab did: history.undo(), history.redo().
export const edit = (
  history: UndoHistory,
  all: DocumentCollection,
  label: string,
  id: string,
  path: string,
  value: unknown,
) => history.transaction(label, (tx) => tx(all).patch(id, { [path]: value }));

export const archive = (history: UndoHistory, all: DocumentCollection, label: string, id: string) =>
  history.transaction(label, (tx) => tx(all).archive(id));

export const unarchive = (
  history: UndoHistory,
  all: DocumentCollection,
  label: string,
  id: string,
) => history.transaction(label, (tx) => tx(all).unarchive(id));

export const remove = (history: UndoHistory, all: DocumentCollection, label: string, id: string) =>
  history.transaction(label, (tx) => tx(all).delete(id));

// Undoes Drop({ backup: true }), which keeps a backup.
export async function restoreNewest(all: DocumentCollection) {
  const [newest] = await all.listBackups();
  if (newest) await all.loadBackup(newest.name);
}
