export type { DraftResult } from '../core/draft.ts';
export type {
  AggregateQueryOptions,
  CountOptions,
  LivePages,
  LiveResult,
  PagesOptions,
  QueryOptions,
  SearchQueryOptions,
} from '../core/hook-result.ts';
export type { Refs } from './vue-hooks.ts';
export {
  useDatabaseStatus,
  useDraft,
  useLiveAggregate,
  useLiveCount,
  useLiveDocument,
  useLivePages,
  useLiveQuery,
  useLiveSearch,
  useLiveValue,
} from './vue-hooks.ts';
