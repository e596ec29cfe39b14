import { build, type Plugin } from 'rolldown';
import { withoutUnusedLibraryCode } from './unused-library-code.ts';
import { workers } from './workers.ts';

/**
 * `import script from 'virtual:worker-script'` (or `file-worker-script`) is a worker with
 * everything it needs, as the text of one classic script: a Blob of it needs no file and no
 * bundler's help.
 */
export function workerScript(): Plugin {
  const entryOf = new Map(workers.map(({ name, entry }) => [`virtual:${name}-script`, entry]));
  return {
    name: 'worker-script',
    resolveId: (id) => (entryOf.has(id) ? `\0${id}` : null),
    async load(id) {
      const entry = entryOf.get(id.slice(1));
      if (!entry) return null;
      const { code, moduleIds } = await bundleWorker(entry);
      for (const file of moduleIds) if (!file.startsWith('\0')) this.addWatchFile(file);
      return { code: `export default ${JSON.stringify(code)};`, moduleType: 'js' };
    },
  };
}

/** A worker with all its parts as one classic script. */
export async function bundleWorker(entry: string): Promise<{ code: string; moduleIds: string[] }> {
  const { output } = await build({
    input: entry,
    write: false,
    platform: 'browser',
    plugins: [withoutUnusedLibraryCode()],
    logLevel: 'warn',
    transform: { target: 'es2022' },
    output: { format: 'iife', minify: true, codeSplitting: false },
  });
  return output[0];
}
