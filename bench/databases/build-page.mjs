import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { ROOT } from '../../tools/setup.mjs';

const FOLDER = `${ROOT}node_modules/.cache/cairn-bench/page`;

/**
 * Bundles the page and all it compares, as an app would. Cairn itself is not in there: the page loads its build.
 *
 * @returns {Promise<string>} the folder
 */
export async function buildPage() {
  await build({
    root: fileURLToPath(new URL('page', import.meta.url)),
    configFile: false,
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: {
      outDir: FOLDER,
      emptyOutDir: true,
      target: 'es2022',
      reportCompressedSize: false,
      chunkSizeWarningLimit: 10_000,
      assetsInlineLimit: 0,
      modulePreload: false,
      // by this name it is known which code is of the benchmark itself
      rollupOptions: { output: { entryFileNames: 'benchmark.js' } },
    },
  });
  return FOLDER;
}
