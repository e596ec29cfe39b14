import type { Criteria } from '../query/criteria/criteria-types.ts';
import type { Sort } from '../query/sort/sort-types.ts';

/** What document collections have and other collections lack. */
interface Documents {
  insert(document: never): Promise<object>;
}

/** The type of the documents of a collection: `DocumentOf<typeof users>`. */
export type DocumentOf<C extends Documents> = C extends {
  insert(document: never): Promise<infer D>;
}
  ? D
  : never;

/**
 * The type of the criteria of a collection, for code that builds them step by step.
 *
 * @example
 * ```ts
 * const criteria: CriteriaOf<typeof users> = {};
 * if (city) criteria['address.city'] = city;
 * await users.filter(criteria);
 * ```
 */
export type CriteriaOf<C extends Documents> = Criteria<DocumentOf<C>>;

/** The type of the sort order of a collection, like {@link CriteriaOf}. */
export type SortOf<C extends Documents> = Sort<DocumentOf<C>>;
