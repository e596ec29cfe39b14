// For React's server components: hooks run in client components.
'use client';

export type { DraftResult } from '../core/draft.ts';
export type {
  CountOptions,
  LivePages,
  LiveResult,
  PagesOptions,
  QueryOptions,
} from '../core/hook-result.ts';
export {
  useDatabaseStatus,
  useDraft,
  useLiveCount,
  useLiveDocument,
  useLivePages,
  useLiveQuery,
  useLiveSuspenseQuery,
  useLiveValue,
} from './react-hooks.ts';
