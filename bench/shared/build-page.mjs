import { build } from 'vite';
import { ROOT } from '../../tools/setup.mjs';

const CACHE = `${ROOT}node_modules/.cache/cairn-bench`;

/** Without it RxDB's core shares a chunk with all its storages, and each would count the others. */
const codeSplitting = {
  groups: [{ name: 'rxdb', test: /\/node_modules\/rxdb\/dist\/(?!.*plugins\/storage-)/ }],
};

/**
 * Bundles a page and its contenders as an app would, without Cairn, whose build the page loads.
 *
 * @param {string} name of the folder of `bench` that has the page
 * @returns {Promise<string>} the folder of the build
 */
export async function buildPage(name) {
  const folder = `${CACHE}/${name}`;
  await build({
    root: `${ROOT}bench/${name}/page`,
    configFile: false,
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: {
      outDir: folder,
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
  return folder;
}
