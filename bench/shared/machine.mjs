import { cpus, release, type } from 'node:os';
import { launchChromium } from '../../tools/browsers/chromium.mjs';

/**
 * @typedef {object} Machine
 * @property {string} browser with its version
 * @property {number} cores
 * @property {string} processor
 * @property {string} system
 */

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

/** @param {Machine} machine */
export const machineLine = ({ browser, cores, processor, system }) =>
  `${browser}, ${cores} cores (${processor}), ${system}`;
