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
} from './svelte-hooks.ts';
export type { Current } from './svelte-source.ts';
