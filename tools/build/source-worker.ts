import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { workers } from './workers.ts';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));
const BUILT_URL = /new URL\(\s*'\.\/([\w-]+)\.js'\s*,\s*import\.meta\.url\s*\)/g;

/**
 * The source names a worker as it lies beside it once built:
 * `new URL('./worker.js', import.meta.url)`, the one form that bundlers, and pages without one,
 * understand. Where Vite serves or bundles the source itself, this points the URL at the worker's
 * source.
 */
export function sourceWorker(): Plugin {
  const entryOf = new Map<string, string>(workers.map(({ name, entry }) => [name, entry]));
  return {
    name: 'source-worker',
    enforce: 'pre', // before Vite looks for workers
    // WebKit evaluates the script of a worker again where a chunk imports it.
    config: () => ({
      worker: { format: 'es', rolldownOptions: { output: { codeSplitting: false } } },
    }),
    transform(code, id) {
      const [file = id] = id.split('?');
      if (!file.startsWith(SOURCE)) return null;
      // on one line as before: the line numbers of the source stay right without a map
      const found = code.replace(BUILT_URL, (url, name: string) => {
        const entry = entryOf.get(name);
        if (entry) return `new URL('${relative(dirname(file), entry)}', import.meta.url)`;
        // The source's worker imports its parts by itself.
        return name.startsWith('part-') ? "new URL('about:blank')" : url;
      });
      return found === code ? null : { code: found, map: null };
    },
  };
}
