import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { figure, printTable } from '../shared/print-table.mjs';

const PROCESS = fileURLToPath(new URL('steady-process.mjs', import.meta.url));
const start = promisify(execFile);
/** In seconds: the default, with which Cairn saves earlier, and the same value, set. */
const SAVE_TIMEOUTS = ['', '1'];
const TIMEOUT_MS = 1000;

/** @typedef {{ calls: number, timer: number, signal: number, unsaved: number }} Steady */

/**
 * Loops that await writes and nothing else starve no timer, no signal and no save.
 *
 * @param {string} dist
 * @param {number} seconds of each loop
 */
export async function runSteady(dist, seconds) {
  /** @type {(Steady & { call: string, save_timeout: string })[]} */
  const rows = [];
  for (const call of ['insert', 'patch', 'set'])
    for (const saveTimeout of SAVE_TIMEOUTS) {
      const folder = makeFolder('bench');
      try {
        const args = [PROCESS, call, saveTimeout, folder, dist, `${seconds}`];
        const { stdout } = await start(process.execPath, args);
        rows.push({ call, save_timeout: saveTimeout || 'default', ...JSON.parse(stdout) });
      } finally {
        removeFolder(folder);
      }
    }
  console.log(`\n${seconds} s of awaited writes: parts of save_timeout (1 s)`);
  const ratio = (/** @type {number} */ ms) => figure(ms / TIMEOUT_MS);
  printTable([
    ['', 'calls a second', 'latest timer', 'latest signal', 'oldest unsaved write'],
    ...rows.map(({ call, save_timeout, calls, timer, signal, unsaved }) => [
      `${call}, save_timeout: ${save_timeout}`,
      ...[figure(calls), ratio(timer), ratio(signal), ratio(unsaved)],
    ]),
  ]);
  return rows;
}
