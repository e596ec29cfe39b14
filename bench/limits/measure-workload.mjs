import { launchChromium } from '../../tools/browsers/chromium.mjs';
import { summarize } from '../page/statistics.mjs';
import { Quiet } from '../shared/quiet.mjs';
import { recordProfiles } from './profile.mjs';

/**
 * @typedef {object} Measured the figures of one contender at one size
 * @property {number} size
 * @property {string} contender
 * @property {string} metric
 * @property {number[]} values one for each round
 */

/** With a fresh profile. */
export const launch = () =>
  launchChromium({ args: ['--js-flags=--expose-gc', '--enable-precise-memory-info'] });

/**
 * Runs a workload in its own page: every contender in turn, round by round, so that temporary
 * load affects all of them.
 *
 * @param {Awaited<ReturnType<typeof launch>>} browser
 * @param {import('./workload.mjs').Workload} workload
 * @param {{ origin: string, rounds: number, sizes: number[], without: string[], patient: boolean, profileTo?: string | undefined }} options
 * @returns {Promise<{ measured: Measured[], load: number }>} with how busy the machine was otherwise, from 0 to 1
 */
export async function measureWorkload(
  browser,
  workload,
  { origin, rounds, sizes, without, patient, profileTo },
) {
  const page = await openPage(browser, origin);
  try {
    const profiles = profileTo ? await recordProfiles(page, profileTo) : undefined;
    /** @type {Map<string, Measured>} */
    const measured = new Map();
    const quiet = new Quiet();
    /** @type {Map<number, unknown>} */
    const prepared = new Map();
    for (const size of sizes) {
      const input = { database: `${workload.name}-${size}`, size, prepared: undefined };
      if (!workload.prepare) continue;
      if (workload.freshPage) await page.reload();
      prepared.set(size, await runInPage(page, workload.name, 'prepare', input));
    }
    for (let round = 1; round <= rounds; round++) {
      for (const size of sizes) {
        for (const contender of Object.keys(workload.contenders)) {
          if (without.includes(contender)) continue;
          if (workload.freshPage) await page.reload();
          const database = `${workload.name}-${contender}-${size}-${round}`;
          const input = { database, size, prepared: prepared.get(size) };
          if (patient) await quiet.wait();
          if (profiles) profiles.name = database;
          const figures = await runInPage(page, workload.name, contender, input);
          for (const [metric, value] of Object.entries(figures)) {
            const key = `${size} ${contender}: ${metric}`;
            const entry = measured.get(key) ?? { size, contender, metric, values: [] };
            entry.values.push(value);
            measured.set(key, entry);
          }
        }
      }
    }
    const load = patient ? summarize(quiet.loads).median : 0;
    return { measured: [...measured.values()], load };
  } finally {
    await page.close();
  }
}

/** @param {Awaited<ReturnType<typeof launch>>} browser @param {string} origin */
async function openPage(browser, origin) {
  const page = await browser.newPage(`${origin}/bench/limits/page/index.html`);
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') console.warn(message.text());
  });
  return page;
}

/**
 * @param {import('playwright-core').Page} page
 * @param {string} workload
 * @param {string} part `prepare`, or a contender
 * @param {import('./workload.mjs').Input} input
 * @returns {Promise<any>}
 */
async function runInPage(page, workload, part, input) {
  try {
    return await page.evaluate(
      async ([url, name, given]) => {
        const { default: loaded } = await import(url);
        const run = name === 'prepare' ? loaded.prepare : loaded.contenders[name];
        return run(given);
      },
      /** @type {const} */ ([`/bench/limits/workloads/${workload}.mjs`, part, input]),
    );
  } catch (cause) {
    throw new Error(`${workload}, ${part}, ${input.size} documents: ${cause}`, { cause });
  }
}
