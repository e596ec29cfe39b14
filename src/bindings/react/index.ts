// For React's server components: hooks run in client components.
'use client';

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
export {
  useDatabaseStatus,
  useDraft,
  useLiveAggregate,
  useLiveCount,
  useLiveDocument,
  useLivePages,
  useLiveQuery,
  useLiveSearch,
  useLiveSuspenseQuery,
  useLiveValue,
} from './react-hooks.ts';
