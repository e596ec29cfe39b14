/** Gets a fresh clone ready. Only Node itself may be imported here: nothing is installed yet. */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

const INSTALLED = `${ROOT}node_modules/.package-lock.json`; // npm writes it last
const LOCK = `${ROOT}package-lock.json`;
const OLDEST_NODE = 20;

/** Installs the packages if they are missing or older than the lock file. */
export function installPackages() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE) {
    throw new Error(`Node ${OLDEST_NODE} or newer is needed; this is ${process.version}.`);
  }
  if (existsSync(INSTALLED) && statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs) return;
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['ci', '--include=dev'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('`npm ci` failed: see its output above.');
}

/** @param {string} name a program of an installed package */
export const bin = (name) => `${ROOT}node_modules/.bin/${name}`;
