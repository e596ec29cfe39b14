import type { LiveQuery } from '../../collection/live/live-query.ts';
import { OptionError } from '../../errors/option-error.ts';
import { keyOf, sorted } from './canonical-key.ts';
import type { LiveResult, Running } from './hook-result.ts';
import { sharedQuery } from './shared-query.ts';
import { wrong } from './wrong-argument.ts';

/** What makes a live query. */
export interface QueryCall {
  readonly method: 'live' | 'liveCount' | 'liveDocument';
  readonly args: readonly unknown[];
  /** What its functions close over. */
  readonly names?: unknown;
  /** Of the collection. */
  readonly type: string;
}

/**
 * The live query of one hook: the same for calls with equal arguments.
 *
 * @throws {OptionError} `option_invalid` if the collection is none.
 */
export function queryOf<T>(
  hook: string,
  collection: object,
  { method, args, names, type }: QueryCall,
  start: LiveResult<T>,
): Running<LiveResult<T>> {
  if ((collection as { type?: unknown }).type !== type)
    throw wrong(hook, collection, `a ${type} collection`);
  const live = collection as Record<string, (...given: readonly unknown[]) => LiveQuery<T>>;
  let key: string;
  let open = () => (live[method] as (typeof live)[string])(...args);
  try {
    key = method + keyOf([names, args.map(sorted)], names !== undefined);
  } catch (cause) {
    // Cycles, for example. They go to `error`, as all that is wrong with a query.
    key = `${hook}() cannot compare its criteria and options: ${(cause as Error).message}`;
    open = () => {
      throw new OptionError('option_invalid', key, { place: hook, cause });
    };
  }
  return sharedQuery(collection, key, open, start);
}
