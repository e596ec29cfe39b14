import type { DocumentCollection } from 'cairndb';

// Orders hold the `_id` of their customer. One query finds the
// names for all visible rows.
export async function namesOf(all: DocumentCollection, ids: readonly string[], field: string) {
  const found = await all.filter({ _id: { $in: [...ids] } }, { archived: true, select: [field] });
  return new Map(found.map((document) => [document._id, String(document[field])]));
}
