import { loadFailed } from '../../errors/errors.ts';
import type { DatabaseCalls } from './database-calls.ts';

let loaded: typeof DatabaseCalls | undefined;

/**
 * The code of calls about the whole database, if it has been loaded: `import()` takes a turn of the
 * event loop each time.
 */
export const loadedDatabaseCalls = (): typeof DatabaseCalls | undefined => loaded;

/** @throws {CairnError} `load_failed` */
export async function loadDatabaseCalls(): Promise<typeof DatabaseCalls> {
  const module = await import('./database-calls.ts').catch(loadFailed);
  loaded = module.DatabaseCalls;
  return loaded;
}
