import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { ROOT } from '../../tools/setup.mjs';

const FOLDER = `${ROOT}node_modules/.cache/cairn-bench/page`;

/** Without it RxDB's core shares a chunk with all its storages, and each would count the others. */
const codeSplitting = {
  groups: [{ name: 'rxdb', test: /\/node_modules\/rxdb\/dist\/(?!.*plugins\/storage-)/ }],
};

/**
 * Bundles the page and its contenders as an app would, without Cairn, whose build the page loads.
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
      // the name marks the benchmark's own code
      rollupOptions: { output: { entryFileNames: 'benchmark.js', codeSplitting } },
    },
  });
  return FOLDER;
}
