import { resolve } from 'node:path';
import { ROOT } from '../../tools/setup.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { buildCommit } from '../shared/build-commit.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { FOLDER, writeResults } from '../shared/results.mjs';
import { startServer } from '../shared/server.mjs';
import { checkResults } from './check-results.mjs';
import { checkLimits } from './limits.mjs';
import { launch, measureWorkload } from './measure-workload.mjs';
import { readLimitOptions } from './options.mjs';
import { printComparison, printWorkload } from './print.mjs';
import { workloads } from './workloads.mjs';

/**
 * Workloads that are run, and named, together.
 *
 * @typedef {object} Family
 * @property {string} name of its folder
 * @property {readonly import('./workload.mjs').Workload[]} workloads
 * @property {Record<string, string>} packages folders of what its contenders load, by URL
 */

/** A build at an origin of its own. @param {string} folder @param {Family} family */
const serveBuild = (folder, { packages }) =>
  startServer({
    '/bench': `${ROOT}bench`,
    '/node_modules/dexie/dist/modern': `${ROOT}node_modules/dexie/dist/modern`,
    '/node_modules/mingo/dist': `${ROOT}node_modules/mingo/dist`,
    ...packages,
    '/dist': folder,
  });

/** @type {Family} */
const limits = { name: 'limits', workloads, packages: {} };

/** Measures Cairn against its limits. @param {string[]} args @param {Family} [family] */
export async function runLimits(args, family = limits) {
  const options = readLimitOptions(args, family);
  const { chosen, rounds, sizes: givenSizes, without, dist, compare, profile, smoke } = options;
  const other = compare === undefined ? undefined : buildCommit(compare);
  const folders = [dist === undefined ? buildIfStale() : resolve(dist)];
  if (other) folders.push(other.folder);
  const servers = await Promise.all(folders.map((folder) => serveBuild(folder, family)));
  /** One browser for all in a smoke run; else a fresh one per workload. */
  let browser = smoke ? await launch() : undefined;
  try {
    const machine = await describeMachine();
    console.log(machineLine(machine));
    /** @type {import('./results.mjs').Results} */
    const results = { at: new Date().toISOString(), smoke, machine, workloads: [] };
    const expected = [];
    for (const workload of chosen) {
      const { name, title, limits } = workload;
      const sizes = givenSizes ?? (smoke ? workload.smokeSizes : workload.sizes);
      browser ??= await launch();
      const { builds, load } = await measureWorkload(browser, workload, {
        origins: servers.map((server) => server.origin()),
        folder: `${family.name}/workloads`,
        rounds,
        sizes,
        without,
        patient: !smoke,
        profileTo: profile ? `${FOLDER}/profiles` : undefined,
      });
      if (!smoke) {
        await browser.close();
        browser = undefined;
      }
      const [measured = [], then] = builds;
      const checked = checkLimits(limits, measured);
      const result = { name, title, rounds, load, measured, checked };
      printWorkload(result, smoke);
      if (other && then) printComparison(measured, then, other.commit);
      results.workloads.push(result);
      const contenders = Object.keys(workload.contenders).filter((it) => !without.includes(it));
      expected.push({ workload, sizes, contenders });
    }
    checkResults(results, expected);
    console.log(`\nwritten to ${writeResults(results, family.name)}`);
  } finally {
    await browser?.close();
    for (const server of servers) server.close();
  }
}
