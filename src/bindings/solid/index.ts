export type { DraftResult } from '../core/draft.ts';
export type { CountOptions, PagesOptions, QueryOptions } from '../core/hook-options.ts';
export type { LivePages, LiveResult } from '../core/hook-result.ts';
export {
  useDatabaseStatus,
  useDraft,
  useLiveCount,
  useLiveDocument,
  useLivePages,
  useLiveQuery,
  useLiveValue,
} from './solid-hooks.ts';
export type { Accessors } from './solid-source.ts';
