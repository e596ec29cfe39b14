import fc from 'fast-check';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the scripts of properties begin: the same number, the same scripts. */
    readonly seed: number;
    /** 1 each time, more at night. */
    readonly effort: number;
  }
}

fc.configureGlobal({ seed: inject('seed') });

/**
 * How many scripts a property runs: a quarter of what is usual each time, the usual number times
 * the effort at night.
 */
export function runs(usual: number): { readonly numRuns: number } {
  const effort = inject('effort');
  return { numRuns: effort > 1 ? usual * effort : Math.ceil(usual / 4) };
}

/**
 * fast-check with a seed: two runs of the suite do the same, and what a change breaks is not blamed
 * on the next one. `npm run explore` takes a new seed, and runs more.
 */
export { fc };
