import type { DocumentChange, DocumentCollection } from 'cairndb';

// What was added, changed and removed between two backups, or since
// one. What both have in common is not read.
export async function compare(collection: DocumentCollection, from: string, to?: string) {
  const found = { added: 0, changed: 0, removed: 0 };
  const first: DocumentChange[] = [];
  for await (const change of collection.diff(from, to)) {
    found[change.type] += 1;
    if (first.length < 100) first.push(change);
  }
  return { ...found, first };
}

// One document as it was; all others stay.
export const restoreOne = (collection: DocumentCollection, id: string, backup: string) =>
  collection.restoreDocument(id, backup);
