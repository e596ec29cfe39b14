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
 * Runs a workload in pages of its own: every contender in turn, round by round, so that temporary
 * load affects all of them.
 *
 * @param {Awaited<ReturnType<typeof launch>>} browser
 * @param {import('./workload.mjs').Workload} workload
 * @param {{ origins: readonly string[], folder: string, rounds: number, sizes: number[], without:
 *   string[], patient: boolean, profileTo?: string | undefined }} options
 * @returns {Promise<{ builds: Measured[][], load: number }>} the figures of each build, and how
 *   busy the machine was otherwise, from 0 to 1
 */
export async function measureWorkload(
  browser,
  workload,
  { origins, folder, rounds, sizes, without, patient, profileTo },
) {
  const file = `${folder}/${workload.name}.mjs`;
  const builds = origins.map((origin, at) => {
    return new Build({ browser, origin, profileTo: at === 0 ? profileTo : undefined });
  });
  // An app has one client: what another one has compiled and left would be measured with it.
  const isApart = !workload.freshPage && !workload.prepare;
  try {
    const [first] = builds;
    const quiet = new Quiet();
    for (const size of sizes) {
      const input = { database: `${workload.name}-${size}`, size, prepared: undefined };
      if (!workload.prepare) continue;
      for (const build of builds) {
        const { page } = await build.pageFor('');
        if (workload.freshPage) await page.reload();
        build.prepared.set(size, await runInPage(page, file, 'prepare', input));
      }
    }
    for (let round = 1; round <= rounds; round++) {
      for (const size of sizes) {
        for (const contender of Object.keys(workload.contenders)) {
          if (without.includes(contender)) continue;
          // Each build is the first in half of the rounds.
          for (const build of round % 2 === 0 ? builds.toReversed() : builds) {
            const { prepared, refused } = build;
            if (refused.has(contender)) continue;
            const { page, profiles } = await build.pageFor(isApart ? contender : '');
            // The other pages are hidden then: timers of a hidden page are slow, and Cairn saves at
            // once in one.
            if (isApart || builds.length > 1) await page.bringToFront();
            if (workload.freshPage) await page.reload();
            const database = `${workload.name}-${contender}-${size}-${round}`;
            const input = { database, size, prepared: prepared.get(size) };
            if (patient) await quiet.wait();
            if (profiles) profiles.name = database;
            const measuring = build.measure(page, file, contender, input);
            await (build === first ? measuring : measuring.catch(build.refuse(contender)));
          }
        }
      }
    }
    const load = patient ? summarize(quiet.loads).median : 0;
    return { builds: builds.map(({ measured }) => [...measured.values()]), load };
  } finally {
    for (const build of builds) await build.close();
  }
}

/** @typedef {import('playwright-core').Page} Page */

/** A build of Cairn in its pages. */
class Build {
  /** @type {Map<string, Measured>} */
  measured = new Map();
  /** Contenders that it cannot run. @type {Set<string>} */
  refused = new Set();
  /** By size. @type {Map<number, unknown>} */
  prepared = new Map();
  /** @type {Map<string, { page: Page, profiles: { name: string } | undefined }>} */
  #pages = new Map();

  /**
   * @param {{ browser: Awaited<ReturnType<typeof launch>>, origin: string, profileTo: string |
   *   undefined }} settings
   */
  constructor(settings) {
    this.settings = settings;
  }

  /** Its page of that name. @param {string} name */
  async pageFor(name) {
    const { browser, origin, profileTo } = this.settings;
    const known = this.#pages.get(name);
    if (known) return known;
    const page = await openPage(browser, origin);
    const made = { page, profiles: profileTo ? await recordProfiles(page, profileTo) : undefined };
    this.#pages.set(name, made);
    return made;
  }

  async close() {
    for (const { page } of this.#pages.values()) await page.close();
  }

  /** For an older build, which may lack what a contender needs. @param {string} contender */
  refuse(contender) {
    return (/** @type {unknown} */ error) => {
      console.log(`left out of the comparison: ${error}`.split('\n', 1)[0]);
      this.refused.add(contender);
    };
  }

  /**
   * @param {Page} page
   * @param {string} file of the workload
   * @param {string} contender
   * @param {import('./workload.mjs').Input} input
   */
  async measure(page, file, contender, input) {
    const { size } = input;
    const figures = await runInPage(page, file, contender, input);
    for (const [metric, value] of Object.entries(figures)) {
      const key = `${size} ${contender}: ${metric}`;
      const entry = this.measured.get(key) ?? { size, contender, metric, values: [] };
      entry.values.push(value);
      this.measured.set(key, entry);
    }
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
 * @param {Page} page
 * @param {string} file
 * @param {string} part `prepare`, or a contender
 * @param {import('./workload.mjs').Input} input
 * @returns {Promise<any>}
 */
async function runInPage(page, file, part, input) {
  try {
    return await page.evaluate(
      async ([url, name, given]) => {
        const { default: loaded } = await import(url);
        const run = name === 'prepare' ? loaded.prepare : loaded.contenders[name];
        return run(given);
      },
      /** @type {const} */ ([`/bench/${file}`, part, input]),
    );
  } catch (cause) {
    throw new Error(`${file}, ${part}, ${input.size} documents: ${cause}`, { cause });
  }
}
