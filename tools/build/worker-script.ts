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
      const { output } = await build({
        input: ENTRY,
        write: false,
        platform: 'browser',
        logLevel: 'warn',
        transform: { target: 'es2022' },
        output: { format: 'iife', minify: true, codeSplitting: false },
      });
      const [chunk] = output;
      for (const file of chunk.moduleIds) if (!file.startsWith('\0')) this.addWatchFile(file);
      return { code: `export default ${JSON.stringify(chunk.code)};`, moduleType: 'js' };
    },
  };
}
