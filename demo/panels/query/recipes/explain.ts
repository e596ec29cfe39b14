import type { Criteria, DocumentCollection, FindOptions } from 'cairndb';

// How the documents would be found, and what that costs.
// Nothing is delivered.
export const explain = (
  collection: DocumentCollection,
  criteria: Criteria,
  { sort }: Pick<FindOptions, 'sort'>,
) => collection.explain(criteria, { sort });
