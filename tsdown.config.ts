import { defineConfig, type UserConfig } from 'tsdown';
import { besideEntries } from './tools/build/beside-entries.ts';
import { bundlerComments } from './tools/build/bundler-comments.ts';
import { chunkNames } from './tools/build/chunk-names.ts';
import { chunks, withoutRuntime, workerStartApart } from './tools/build/chunks.ts';
import { lateFiles } from './tools/build/late-files.ts';
import { libReference } from './tools/build/lib-reference.ts';
import { notices } from './tools/build/notices.ts';
import { withoutCompiledImports } from './tools/build/parcel-imports.ts';
import { sqlText } from './tools/build/sql-text.ts';
import { withoutUnusedLibraryCode } from './tools/build/unused-library-code.ts';
import { withoutInlineWorker } from './tools/build/without-inline-worker.ts';
import { partFile, workerCore, workerParts } from './tools/build/worker-parts.ts';
import { workerScript } from './tools/build/worker-script.ts';
import { workerUrl } from './tools/build/worker-url.ts';

/** Numbers and texts in place of names, which gzip cannot shorten. */
const optimization = { inlineConst: { mode: 'all', pass: 2 } } as const;

const common: UserConfig = {
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  outDir: 'dist',
  tsconfig: 'tsconfig.library.json',
  // Flat and without hashes: './worker.js' means the same file from whichever chunk names it.
  hash: false,
  fixedExtension: false,
  sourcemap: true,
  minify: true,
  dts: true,
  inputOptions: { optimization },
  // The two ends of the worker's wire have to be of one version, and a page without a bundler
  // cannot resolve package names: dist carries what it needs.
  deps: {
    alwaysBundle: [/^(comlink|idb|nanoid|@noble\/(ciphers|hashes))(\/|$)/],
    onlyBundle: ['comlink', 'idb', 'nanoid', '@noble/ciphers', '@noble/hashes'],
  },
};

/** A worker is one file without imports: bundlers and copies of it need nothing else. */
const worker = (entry: Record<string, string>): UserConfig => ({
  ...common,
  clean: false,
  entry,
  outputOptions: { codeSplitting: false },
});

export default defineConfig([
  {
    ...common,
    entry: {
      cairndb: 'src/cairndb.ts',
      index: 'src/index.ts',
      inline: 'src/page/connection/worker/inline-worker.ts',
      replication: 'src/replication/index.ts',
      // With the client: an error or a collection is of the same class whichever of these it comes
      // from.
      react: 'src/bindings/react/index.ts',
      vue: 'src/bindings/vue/index.ts',
      svelte: 'src/bindings/svelte/index.ts',
      angular: 'src/bindings/angular/index.ts',
      solid: 'src/bindings/solid/index.ts',
      devtools: 'src/devtools/index.ts',
      encryption: 'src/encryption/index.ts',
      testing: 'src/testing/index.ts',
      text: 'src/text/index.ts',
      sqlite: 'src/sqlite/index.ts',
      tanstack: 'src/tanstack/index.ts',
      undo: 'src/undo/index.ts',
      yjs: 'src/yjs/index.ts',
      automerge: 'src/automerge/index.ts',
      outbox: 'src/outbox/index.ts',
      graphql: 'src/graphql/index.ts',
      supabase: 'src/supabase/index.ts',
      node: 'src/node/index.ts',
      'backup-targets': 'src/backup-targets/index.ts',
    },
    copy: [{ from: 'src/supabase/supabase.sql', to: 'dist' }],
    plugins: [
      workerScript(),
      workerUrl(),
      bundlerComments(),
      lateFiles(),
      chunkNames(),
      withoutRuntime(),
      withoutCompiledImports(),
      workerStartApart(),
      libReference('testing.d.ts', 'esnext.disposable'),
    ],
    // What other entries share with the client they import from it: one more file would be one more
    // round trip.
    inputOptions: { preserveEntrySignatures: 'allow-extension', optimization },
    outputOptions: { codeSplitting: { groups: chunks } },
  },
  {
    ...common,
    clean: false,
    entry: { worker: 'worker/index.ts' },
    dts: false,
    plugins: [notices(), bundlerComments(), withoutUnusedLibraryCode(), workerParts()],
    inputOptions: { preserveEntrySignatures: 'allow-extension', optimization },
    outputOptions: { chunkFileNames: partFile, codeSplitting: { groups: [workerCore] } },
  },
  // All of it in one file, for workers that an app makes itself.
  {
    ...worker({ 'whole-worker': 'worker/index.ts' }),
    plugins: [bundlerComments(), withoutUnusedLibraryCode()],
  },
  {
    ...worker({ 'file-worker': 'worker/file-worker.ts' }),
    plugins: [bundlerComments()],
    dts: false,
  },
  {
    ...common,
    platform: 'neutral',
    clean: false,
    entry: { server: 'src/server/index.ts' },
    plugins: [sqlText()],
  },
  {
    ...common,
    platform: 'node',
    clean: false,
    entry: { cli: 'cli/index.ts' },
    dts: false, // nobody imports it
    sourcemap: false,
    plugins: [besideEntries()],
    outputOptions: { codeSplitting: false },
  },
  {
    ...common,
    platform: 'neutral',
    clean: false,
    // Apart from the handler: it shares types with it alone.
    entry: { 'server-files': 'src/server/files/index.ts' },
  },
  {
    ...common,
    platform: 'neutral',
    clean: false,
    entry: { 'server-tables': 'src/server/tables/index.ts' },
    plugins: [sqlText(false)],
  },
  {
    ...common,
    platform: 'neutral',
    clean: false,
    // Apart from replication, whose files it must not cut.
    entry: { 'replication-testing': 'src/replication/testing/index.ts' },
  },
  {
    // For service workers that no bundler has put together: import() is forbidden there.
    ...worker({ static: 'src/cairndb.ts' }),
    sourcemap: false, // those of the other files show the same sources
    dts: false, // package.json names those of index
    plugins: [withoutInlineWorker(), workerUrl(), bundlerComments()],
  },
]);
