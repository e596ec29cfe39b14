import type { ItemCriteria } from '../query/criteria/criteria-types.ts';

/** What to look for in an array: a function, criteria, or a value that items equal. */
export type ItemParams<I = unknown> = ((item: I) => unknown) | ItemCriteria<I> | I;
