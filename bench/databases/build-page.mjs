import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { ROOT } from '../../tools/setup.mjs';

const FOLDER = `${ROOT}node_modules/.cache/cairn-bench/page`;

/** Without it the core of RxDB ends up in one chunk with all its storages, and each would be charged with the others. */
const codeSplitting = {
  groups: [{ name: 'rxdb', test: /\/node_modules\/rxdb\/dist\/(?!.*plugins\/storage-)/ }],
};

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
      rollupOptions: { output: { entryFileNames: 'benchmark.js', codeSplitting } },
    },
  });
  return FOLDER;
}
