import { availableParallelism } from 'node:os';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { ALL_BROWSERS, BROWSERS } from './tools/browsers/find.mjs';
import { installedBrowsers } from './tools/browsers/provider.mjs';
import { bundledWorker } from './tools/build/bundled-worker.ts';
import { pageCode } from './tools/build/page-code.ts';
import { sourceWorker } from './tools/build/source-worker.ts';
import { sqlText } from './tools/build/sql-text.ts';
import { workerScript } from './tools/build/worker-script.ts';

/** All three, unless BROWSERS names others. One that is not installed fails; it is not left out. */
const asked = process.env.BROWSERS?.split(',');
const browsers = asked ? ALL_BROWSERS.filter((name) => asked.includes(name)) : BROWSERS;

const contract = 'test/contract/**/*.test.ts';
/** Memory is the same everywhere, so Node alone tests it. */
const inMemory = ['memory', 'encrypted'].map((name) => `test/contract/database-${name}.test.ts`);
/** In Chromium alone: the driver's own suite runs in every browser that has files. */
const inFiles = 'test/contract/connect-opfs.test.ts';
const effort = Number(process.env.EFFORT ?? 1);
/**
 * What is the same in each JavaScript engine, and so at night alone in browsers; and the contract
 * over files.
 */
const atNight = [
  inFiles,
  'test/storage/{memory,record,segment,watermarks}*.test.ts',
  'test/storage/opfs/{file-compaction,frame-table,migration-crash,torn-tails}.test.ts',
  'test/backup/file/{damaged-files,hostile-lines,limits,round-trip.property}.test.ts',
];
const inBrowsers = 'test/bindings/browser/**/*.test.ts';
const withPrograms = ['package', 'tabs', 'e2e', 'servers', 'site'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
/**
 * That the simulation finds faults; the panel Speed, which runs other databases; layout shifts, for
 * which each panel is visited for long; tabs at steady work, whose changes money.test.ts makes in
 * transactions, unless somebody says for how long.
 */
const wholeAtNight = [
  'test/simulation/**/broken-*.test.ts',
  'test/e2e/{layout-shift,speed}.test.ts',
  ...(process.env.TABS_SECONDS ? [] : ['test/tabs/many.test.ts']),
];
const exclude = effort > 1 ? [] : wholeAtNight;
const setupFiles = ['test/setup/fake-indexeddb.ts'];
const MINUTE = 60_000;

/**
 * Projects that start programs of their own and so need time, and the machine for themselves: one
 * after the other.
 */
const slow = (name: string, groupOrder: number, maxWorkers: number, globalSetup: string) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    exclude,
    globalSetup: [globalSetup],
    testTimeout: 8 * MINUTE,
    hookTimeout: 8 * MINUTE,
    maxWorkers,
    maxConcurrency: 3,
    sequence: { groupOrder },
  },
});

export default defineConfig({
  // svelte: its tests have a component; the library itself needs no compiler
  plugins: [
    sourceWorker(),
    bundledWorker(),
    workerScript(),
    sqlText(),
    pageCode(),
    svelte({ configFile: false }),
  ],
  resolve: { dedupe: ['dexie'] }, // RxDB brings another version of it, and one page takes one
  // known at once, so that no page is reloaded in the middle of its tests
  optimizeDeps: {
    include: [
      ...['@noble/ciphers/aes.js', 'axe-core', 'comlink', 'fast-check', 'idb', 'mingo', 'nanoid'],
      ...['dexie', 'localforage', 'lokijs', 'pouchdb-browser'],
      ...['incremental-indexeddb', 'loki-indexed'].map((name) => `lokijs/src/${name}-adapter.js`),
      ...['core', 'storage-dexie', 'storage-localstorage'].map((name) => `rxdb/plugins/${name}`),
      ...['react', 'react-dom', 'react-dom/client', 'vue', 'solid-js', 'solid-js/web'],
      ...['core', 'compiler', 'platform-browser'].map((name) => `@angular/${name}`),
    ],
  },
  test: {
    // They end what hangs; a busy machine takes ten times as long as a quiet one.
    testTimeout: 3 * MINUTE,
    hookTimeout: 3 * MINUTE,
    expect: { poll: { timeout: MINUTE } },
    // Vitest keeps one core for itself, and of two that is half: what transforms has little to do
    // most of the time.
    maxWorkers: availableParallelism(),
    provide: { seed: Number(process.env.SEED ?? 1), effort },
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/browser/**', inBrowsers, inFiles, 'test/simulation/**', ...withPrograms],
          // One process after the other would take as long to start as most files take. Files may
          // share modules and globals: a test puts back what it changes of them.
          isolate: false,
          setupFiles,
        },
      },
      {
        extends: true,
        test: {
          name: 'happy-dom',
          environment: 'happy-dom',
          include: [contract],
          // Here connect() has no worker: it runs the same engine in the thread, with the same
          // IndexedDB, as Database.
          exclude: [...inMemory, inFiles, 'test/contract/database-indexeddb.test.ts'],
          setupFiles,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: [
            contract,
            'test/storage/**/*.test.ts',
            'test/backup/file/**/*.test.ts',
            'test/encryption/known-answers.test.ts',
            // time zones are the browser's
            'test/query/expressions/{dates.property,documented}.test.ts',
            'test/browser/**/*.test.ts',
            inBrowsers,
          ],
          // As in Node: a page for each file would load all of the sources each time.
          isolate: false,
          browser: {
            enabled: true,
            headless: true,
            fileParallelism: false, // one page in each: the engines run side by side
            screenshotFailures: false,
            provider: installedBrowsers,
            instances: browsers.map((browser) => ({
              browser,
              name: browser,
              exclude: [
                ...inMemory,
                ...(browser === 'chromium' ? [] : [inFiles]),
                ...(effort > 1 ? [] : atNight),
              ],
            })),
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'simulation',
          include: ['test/simulation/*.test.ts'],
          isolate: false,
          setupFiles: ['test/simulation/load-code.ts'],
          exclude,
        },
      },
      {
        extends: true,
        test: {
          // Their parts of files are smaller: modules that another test has loaded would keep theirs.
          name: 'simulated-files',
          include: ['test/simulation/files/*.test.ts'],
          setupFiles: ['test/simulation/load-code.ts'],
          exclude,
        },
      },
      // a test of these keeps one core busy, or waits
      slow('servers', 1, 2, 'test/servers/start-postgres.ts'),
      slow('package', 2, 2, 'test/package/pack.ts'),
      // with two, beside the other steps, pages that end or freeze get no processor in the time
      // that browsers give them
      slow('tabs', 3, 1, 'test/tabs/build-page.ts'),
      slow('e2e', 4, 2, 'test/e2e/build-playground.ts'),
      slow('site', 5, 1, 'test/site/build-site.ts'),
    ],
  },
});
