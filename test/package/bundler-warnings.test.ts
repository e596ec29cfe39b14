import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { installPackages } from '../../tools/fixtures/install.mjs';
import { fixtures } from '../../tools/fixtures/list.mjs';
import { makeApp } from './consumers.ts';
import { ROOT, run } from './tarball.ts';

/**
 * The app loads each entry that a page imports, and so every file of dist that a bundler may find.
 */
const ENTRIES = [
  '',
  '/backup-targets',
  '/devtools',
  '/encryption',
  '/graphql',
  '/inline',
  '/outbox',
  '/replication',
  '/supabase',
  '/text',
];
/** `cairndb/inline` has the whole worker: about as long as what Vite notes the size of. */
const VITE_CONFIG = 'export default { build: { chunkSizeWarningLimit: 1000 } };\n';

const APP = {
  'vite.config.js': VITE_CONFIG,
  'index.html': '<!doctype html>\n<script type="module" src="/src/index.js"></script>\n',
  'src/index.js': ENTRIES.map((entry) => `import('cairndb${entry}').then(console.log);`).join('\n'),
};

/** Programs by the name of their fixture, or of this repository. */
const bundlers = [
  { name: 'webpack-5', bin: 'webpack', args: ['--mode', 'development'] },
  { name: 'rspack-2', bin: 'rspack', args: ['build', '--mode', 'development'] },
  { name: 'Vite', bin: 'vite', args: ['build', '--logLevel', 'warn'] },
  {
    name: 'esbuild',
    bin: 'esbuild',
    args: ['src/index.js', '--bundle', '--format=esm', '--splitting', '--outdir=dist'],
  },
];

test.concurrent.for(bundlers)(
  '$name prints no warning',
  async ({ name, bin, args }, { expect }) => {
    const fixture = fixtures.find((each) => each.name === name);
    const installed = fixture ? installPackages(fixture) : ROOT;
    const folder = await makeApp(APP);
    try {
      const program = join(installed, 'node_modules/.bin', bin);
      const { stdout, stderr } = await run(program, args, folder);
      const warnings = `${stdout}\n${stderr}`.match(/^.*\bwarn.*$/gim) ?? [];
      expect(warnings.map((line) => line.slice(0, 300))).toEqual([]);
      expect(existsSync(join(folder, 'dist'))).toBe(true);
    } finally {
      removeFolder(folder);
    }
  },
);
