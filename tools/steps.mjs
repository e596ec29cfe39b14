import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, ROOT } from './setup.mjs';

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} shows what holds when it passes
 * @property {() => string[][]} commands run one after the other
 * @property {string[]} [needs] names of earlier steps whose result it uses
 * @property {boolean} [beside] whether it runs beside the step before it: together they keep two
 *   cores busy
 * @property {string} [behind] of the steps beside it, the one that it follows
 * @property {boolean} [atNight] whether it runs with `EFFORT=2` alone, or by its name
 * @property {boolean} [browsers] whether it starts browsers
 * @property {boolean} [servers] whether it starts PostgreSQL
 * @property {number} [minutes] after which a command of it is ended, several times what it takes on
 *   a quiet machine; 10 if not given
 * @property {(output: string) => string[]} [note] a short note from the output
 */

/** @param {string[]} projects */
const vitest = (...projects) => [
  bin('vitest'),
  'run',
  ...projects.flatMap((project) => ['--project', project]),
  '--allowOnly=false',
  '--reporter=default',
  '--reporter=./tools/every-project-ran.ts',
];

/** Whether this is the thorough run of each night (docs/decisions/046). */
export const isNight = Number(process.env.EFFORT ?? 1) > 1;

/** Not `bin('tsc')`: two packages have that name (docs/decisions/046). */
const tsc = [process.execPath, `${ROOT}node_modules/typescript7/bin/tsc`];

/** @param {string} output */
const testCounts = (output) => output.match(/(?<=^ *Tests +)\S.*$/m)?.slice(0, 1) ?? [];

/** @type {Step[]} */
export const steps = [
  {
    name: 'lint',
    shows: 'format and lint',
    commands: () => [[bin('biome'), 'ci', '--colors=off', '--error-on-warnings', '.']],
  },
  {
    name: 'types',
    beside: true,
    shows: 'everything, and what tests say of types',
    commands: () => [[...tsc, '--noEmit']],
  },
  {
    name: 'library',
    beside: true,
    shows: 'types of the library without Node, and what they cost an editor',
    commands: () => [
      [...tsc, '--noEmit', '--project', 'tsconfig.library.json'],
      [process.execPath, 'tools/type-cost.mjs'],
    ],
    note: (output) => output.match(/\d+ instantiations/g) ?? [],
  },
  {
    name: 'layers',
    beside: true,
    shows: 'folders import only to their right, no cycles',
    commands: () => [
      [bin('depcruise'), '--output-type', 'err', 'src', 'worker', 'demo', 'bench/page'],
    ],
  },
  {
    name: 'conventions',
    beside: true,
    shows: 'sizes of files, the words of code and docs, and how folders lie to each other',
    commands: () => [
      [process.execPath, 'tools/conventions.mjs'],
      [process.execPath, 'tools/structure.mjs'],
    ],
  },
  {
    name: 'unused',
    beside: true,
    shows: 'no unused file, export or dependency',
    commands: () => [[bin('knip'), '--no-progress']],
  },
  { name: 'build', shows: 'dist', commands: () => [[bin('tsdown')]] },
  {
    name: 'exports',
    needs: ['build'],
    shows: 'the tarball resolves for bundlers and for types',
    commands: exportChecks,
  },
  {
    name: 'size',
    beside: true,
    needs: ['build'],
    shows: 'within the limits',
    commands: () => [[process.execPath, 'tools/sizes.mjs']],
    note: (output) => output.match(/[\d.]+ kB(?= of)/g) ?? [],
  },
  {
    name: 'suite',
    browsers: true,
    minutes: 40,
    shows: 'tests',
    // Firefox and WebKit have tests of tabs each time.
    commands: () => [
      vitest('node', 'happy-dom', 'chromium', ...(isNight ? ['firefox', 'webkit'] : [])),
    ],
    note: testCounts,
  },
  {
    name: 'simulation',
    minutes: 20,
    shows: 'tabs that write, end, freeze and fail, by seeds: nothing is lost, nothing made twice',
    commands: () => [vitest('simulation', 'simulated-files')],
    note: (output) => output.match(/\d+ seeds, \d+ a second/g) ?? [],
  },
  {
    name: 'servers',
    servers: true,
    minutes: 20,
    shows: 'replication with PostgreSQL and PouchDB: many writers, crashes, restored copies',
    commands: () => [vitest('servers')],
    note: testCounts,
  },
  {
    name: 'package',
    needs: ['build'],
    beside: true,
    behind: 'servers',
    browsers: true,
    minutes: 30,
    shows: 'the packed tarball works for its users',
    commands: () => [vitest('package')],
    note: testCounts,
  },
  {
    name: 'tabs',
    beside: true, // it waits for a good part of its time
    browsers: true,
    minutes: 60,
    shows: 'tabs in real browsers: closed, crashed, frozen, killed',
    commands: () => [vitest('tabs')],
    note: testCounts,
  },
  {
    name: 'e2e',
    beside: true,
    behind: 'package',
    browsers: true,
    minutes: 30,
    shows: 'the playground works',
    commands: () => [vitest('e2e')],
    note: testCounts,
  },
  {
    name: 'docs',
    atNight: true,
    beside: true,
    behind: 'e2e',
    browsers: true,
    shows: 'the documentation site builds, its links lead somewhere, no request leaves it',
    commands: () => [vitest('site')],
    note: testCounts,
  },
  {
    name: 'bench',
    needs: ['build'],
    atNight: true,
    beside: true,
    behind: 'tabs',
    browsers: true,
    minutes: 30,
    shows: 'the benchmarks run, in their short form, and every database answers as it must',
    commands: () => [[process.execPath, 'bench/run.mjs', '--smoke']],
  },
];

function exportChecks() {
  const { name, version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  // a folder of its own: attw deletes a tarball of the same name that lies in the working folder
  const folder = mkdtempSync(join(tmpdir(), 'cairn-pack-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const tarball = join(folder, `${name}-${version}.tgz`);
  return [
    [process.execPath, 'tools/pack.mjs', folder],
    ['npm', 'publish', tarball, '--dry-run', '--ignore-scripts', '--provenance=false'],
    [bin('publint'), '--strict', tarball],
    [
      ...[bin('attw'), tarball, '--no-color', '--ignore-rules', 'cjs-resolves-to-esm'],
      ...['--exclude-entrypoints', 'server/postgres.sql', 'supabase.sql'], // text, and no module
    ],
  ];
}
