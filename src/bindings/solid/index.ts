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
export type { Accessors } from './solid-hooks.ts';
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
} from './solid-hooks.ts';
