import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'rolldown';

const ID = 'virtual:worker-script';
const RESOLVED = `\0${ID}`;
const ENTRY = fileURLToPath(new URL('../../worker/index.ts', import.meta.url));

/**
 * `import script from 'virtual:worker-script'` is the worker entry with everything it needs, as the
 * text of one classic script: a Blob made of it needs no file and no bundler's help.
 */
export function workerScript(): Plugin {
  return {
    name: 'worker-script',
    resolveId: (id) => (id === ID ? RESOLVED : null),
    async load(id) {
      if (id !== RESOLVED) return null;
      const { code, moduleIds } = await bundleWorker();
      for (const file of moduleIds) if (!file.startsWith('\0')) this.addWatchFile(file);
      return { code: `export default ${JSON.stringify(code)};`, moduleType: 'js' };
    },
  };
}

/** The worker entry as one classic script. */
export async function bundleWorker(): Promise<{ code: string; moduleIds: string[] }> {
  const { output } = await build({
    input: ENTRY,
    write: false,
    platform: 'browser',
    logLevel: 'warn',
    transform: { target: 'es2022' },
    output: { format: 'iife', minify: true, codeSplitting: false },
  });
  return output[0];
}
