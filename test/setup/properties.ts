import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the scripts of properties begin: the same number, the same scripts. */
    readonly seed: number;
    /** How many times as many are run as usual. */
    readonly effort: number;
  }
}

fc.configureGlobal({ seed: inject('seed') });

/** How many scripts are to be run of a property that usually runs so many. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: usual * inject('effort') };
}

/**
 * fast-check with a seed: two runs of the suite do the same, and what a change breaks is not blamed on the next one.
 * `npm run explore` takes a new seed, and runs more.
 */
export { fc };
