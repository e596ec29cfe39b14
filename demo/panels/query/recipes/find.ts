import type { DocumentCollection, FindOptions, Params } from 'cairndb';

// Criteria run in the worker. A function runs in the page, with its
// closures, and receives documents in chunks.
export const firstMatches = (
  collection: DocumentCollection,
  params: Params,
  { sort }: Pick<FindOptions, 'sort'>,
) => collection.filter(params, { sort, limit: 50 });
