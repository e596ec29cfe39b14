import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { citiesAsset } from './tools/build/cities-asset.ts';
import { fontPreload } from './tools/build/font-preload.ts';
import { publishedFigures } from './tools/build/published-figures.ts';
import { serviceWorker } from './tools/build/service-worker.ts';
import { sourceWorker } from './tools/build/source-worker.ts';
import { sqlText } from './tools/build/sql-text.ts';
import { workerScript } from './tools/build/worker-script.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** The entries run what they import: together they would run each other. */
const ENTRIES = /(?:\.html|main\.tsx|second-page\.tsx|durability\/closing-tab\.ts)$/;
const isShared = (id: string) => !ENTRIES.test(id);

/** The playground, on the library's source. */
export default defineConfig({
  root: path('demo'),
  base: './',
  resolve: {
    alias: {
      'cairndb/replication': path('src/replication/index.ts'),
      'cairndb/server/files': path('src/server/files/index.ts'),
      'cairndb/server': path('src/server/index.ts'),
      'cairndb/devtools': path('src/devtools/index.ts'),
      'cairndb/undo': path('src/undo/index.ts'),
      'cairndb/encryption': path('src/encryption/index.ts'),
      'cairndb/worker': path('worker/index.ts'),
      cairndb: path('src/cairndb.ts'),
    },
  },
  plugins: [
    sourceWorker(),
    workerScript(),
    sqlText(),
    citiesAsset(),
    publishedFigures(['cairn-worker', 'dexie', 'idb', 'lokijs']),
    fontPreload(),
    serviceWorker(),
  ],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  optimizeDeps: { include: ['comlink', 'idb', 'nanoid'] },
  server: { fs: { allow: [path('.')] } },
  build: {
    outDir: path('demo/dist'),
    emptyOutDir: true,
    target: 'es2022',
    rolldownOptions: {
      input: ['index', 'closing-tab', 'second-page'].map((name) => path(`demo/${name}.html`)),
      // One file, not sixteen: each wave of six requests is a round trip before the first paint.
      output: {
        codeSplitting: { groups: [{ name: 'first', tags: ['$initial'], test: isShared }] },
      },
    },
  },
});
