import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { relative } from 'node:path';
import { launchChromium } from '../tools/browsers/chromium.mjs';
import { ROOT } from '../tools/setup.mjs';

/**
 * @typedef {object} Machine
 * @property {string} browser with its version
 * @property {number} cores
 * @property {string} processor
 * @property {string} system
 *
 * @typedef {object} WorkloadResult
 * @property {string} name
 * @property {string} title
 * @property {number} rounds
 * @property {number} load how busy the machine was with other work, from 0 to 1
 * @property {import('./measure-workload.mjs').Measured[]} measured
 * @property {import('./limits.mjs').Checked[]} checked
 *
 * @typedef {object} Results
 * @property {string} at when it was measured
 * @property {boolean} smoke whether the figures mean nothing
 * @property {Machine} machine
 * @property {WorkloadResult[]} workloads
 */

/** Where results are kept; Git ignores it. */
export const FOLDER = `${ROOT}bench/results`;

/** @returns {Promise<Machine>} */
export async function describeMachine() {
  const browser = await launchChromium();
  try {
    return {
      browser: `Chromium ${browser.context.browser()?.version()}`,
      cores: cpus().length,
      processor: cpus()[0]?.model ?? 'unknown',
      system: `${type()} ${release()}`,
    };
  } finally {
    await browser.close();
  }
}

/** @param {Results} results @returns {string} the path of the file, as seen from the repository */
export function writeResults(results) {
  mkdirSync(FOLDER, { recursive: true });
  const file = `${FOLDER}/${results.at.replaceAll(':', '-')}.json`;
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  return relative(ROOT, file);
}
