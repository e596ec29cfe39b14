import type { ItemCriteria } from '../query/criteria/criteria-types.ts';

/** A query for items of an array: a function, criteria, or a value that items equal. */
export type ItemParams<I = unknown> = ((item: I) => unknown) | ItemCriteria<I> | I;
