/**
 * npm run explore: runs the properties of the suite with a new seed, and twenty times as many
 * scripts of each. SEED=… EFFORT=… npm run explore: repeats a run, or runs longer. Arguments name
 * test files.
 */
import { spawnSync } from 'node:child_process';
import { bin, ROOT } from './setup.mjs';

const { SEED = String(Date.now() % 2 ** 31), EFFORT = '20' } = process.env;
console.log(`SEED=${SEED} EFFORT=${EFFORT}`);
const named = process.argv.slice(2);
const files =
  named.length > 0 ? named : ['property', 'model', 'backup/simulation', 'query', 'codec'];
const { status } = spawnSync(
  bin('vitest'),
  ['run', '--project', 'node', '--testTimeout', '3600000', ...files],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, SEED, EFFORT } },
);
process.exitCode = status ?? 1;
