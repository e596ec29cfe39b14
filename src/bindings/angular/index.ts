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
export type { Signals } from './angular-hooks.ts';
export {
  injectDatabaseStatus,
  injectDraft,
  injectLiveAggregate,
  injectLiveCount,
  injectLiveDocument,
  injectLivePages,
  injectLiveQuery,
  injectLiveSearch,
  injectLiveValue,
} from './angular-hooks.ts';
