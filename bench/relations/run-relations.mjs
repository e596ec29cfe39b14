import { build } from 'esbuild';
import { ROOT } from '../../tools/setup.mjs';
import { runLimits } from '../limits/run-limits.mjs';
import { workloads } from './workloads.mjs';

const FOLDER = `${ROOT}node_modules/.cache/cairn-bench/relations`;

/** Measures joins and groups beside other databases. @param {string[]} args */
export async function runRelations(args) {
  await build({
    entryPoints: { tanstack: '@tanstack/db', tinybase: 'tinybase' },
    absWorkingDir: ROOT,
    outdir: FOLDER,
    bundle: true,
    format: 'esm',
    minify: true,
    logLevel: 'error',
  });
  const packages = {
    '/packages': FOLDER,
    '/node_modules/@sqlite.org/sqlite-wasm/dist': `${ROOT}node_modules/@sqlite.org/sqlite-wasm/dist`,
  };
  await runLimits(args, { name: 'relations', workloads, packages });
}
