import type { Plugin } from 'rolldown';

/** The entries that the program of `npx cairndb` takes from the package, as any program would. */
const ENTRIES: Readonly<Record<string, string>> = {
  '../src/index.ts': './index.js',
  '../src/node/index.ts': './node.js',
};

/** Imports these from their files in dist, in place of a second copy. */
export function besideEntries(): Plugin {
  return {
    name: 'beside-entries',
    resolveId(id) {
      const entry = ENTRIES[id];
      return entry ? { id: entry, external: true } : null;
    },
  };
}
