import type { Criteria, DocumentCollection, FindOptions } from 'cairndb';

// Returns the query plan and its cost, without the documents.
export const explain = (
  collection: DocumentCollection,
  criteria: Criteria,
  { sort }: Pick<FindOptions, 'sort'>,
) => collection.explain(criteria, { sort });
