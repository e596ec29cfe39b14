import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = `${ROOT}worker/index.ts`;
const BUILT_URL = /new URL\(\s*'\.\/worker\.js'\s*,\s*import\.meta\.url\s*\)/;

/**
 * The source names the worker as it lies beside it once built: `new URL('./worker.js',
 * import.meta.url)`, the one form that bundlers, and pages without one, understand. Where Vite
 * serves or bundles the source itself, this points the same URL at `worker/index.ts`.
 */
export function sourceWorker(): Plugin {
  return {
    name: 'source-worker',
    enforce: 'pre', // before Vite looks for workers
    transform(code, id) {
      const [file = id] = id.split('?');
      if (!file.startsWith(`${ROOT}src/`) || !BUILT_URL.test(code)) return null;
      const path = relative(dirname(file), ENTRY);
      // on one line as before: the line numbers of the source stay right without a map
      return { code: code.replace(BUILT_URL, `new URL('${path}', import.meta.url)`), map: null };
    },
  };
}
