import { fileURLToPath } from 'node:url';
import { type Plugin as BundlePlugin, build } from 'rolldown';
import type { Plugin } from 'vitepress';

const NAME = 'virtual:engine-in-page';
const ENTRY = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

/** Where a worker's file would be. */
const FILE_URL = /new URL\(\s*['"`][^'"`]+['"`]\s*,\s*import\.meta\.url\s*\)/g;

/**
 * `import('virtual:engine-in-page')` is Cairn's source with its engine, as one file without
 * workers: the Vite of VitePress can neither read the source nor move its workers.
 */
export function engineInPage(): Plugin {
  return {
    name: 'engine-in-page',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    async load(id) {
      if (id !== `\0${NAME}`) return null;
      const { output } = await build({
        input: ENTRY,
        write: false,
        platform: 'browser',
        logLevel: 'warn',
        plugins: [noWorkers],
        transform: { target: 'es2022' },
        output: { format: 'esm', codeSplitting: false },
      });
      return output[0].code.replace(FILE_URL, "new URL('about:blank')");
    },
  };
}

const noWorkers: BundlePlugin = {
  name: 'no-workers',
  resolveId: (id) => (id.startsWith('virtual:') ? `\0${id}` : null),
  load: (id) => (id.startsWith('\0virtual:') ? 'export default "";' : null),
};
