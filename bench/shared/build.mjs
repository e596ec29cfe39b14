import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { bin, ROOT } from '../../tools/setup.mjs';

const SOURCES = ['src', 'worker', 'tools/build', 'tsdown.config.ts', 'package.json'];
const BUILT = ['dist/index.js', 'dist/inline.js', 'dist/worker.js'];

/** Modification time of the newest file in a folder. @param {string} path @returns {number} */
function changedAt(path) {
  const status = statSync(path);
  if (!status.isDirectory()) return status.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => changedAt(`${path}/${name}`)));
}

/** Builds the library if its sources are newer than dist. Returns the folder of the build. */
export function buildIfStale() {
  const built = BUILT.map((file) => ROOT + file);
  const newest = Math.max(...SOURCES.map((path) => changedAt(ROOT + path)));
  if (!built.every((file) => existsSync(file) && statSync(file).mtimeMs >= newest)) {
    console.log('dist is missing or older than src: building it');
    const { status, stdout, stderr } = spawnSync(bin('tsdown'), { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
  }
  return `${ROOT}dist`;
}
