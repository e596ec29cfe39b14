import { resolve } from 'node:path';
import { ROOT } from '../../tools/setup.mjs';
import { buildIfStale } from '../shared/build.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { FOLDER, writeResults } from '../shared/results.mjs';
import { startServer } from '../shared/server.mjs';
import { checkResults } from './check-results.mjs';
import { checkLimits } from './limits.mjs';
import { launch, measureWorkload } from './measure-workload.mjs';
import { readLimitOptions } from './options.mjs';
import { printWorkload } from './print.mjs';

/** Measures Cairn against its limits. @param {string[]} args */
export async function runLimits(args) {
  const options = readLimitOptions(args);
  const { chosen, rounds, sizes: givenSizes, without, dist, profile, smoke } = options;
  const server = await startServer({
    '/bench': `${ROOT}bench`,
    '/node_modules/dexie/dist/modern': `${ROOT}node_modules/dexie/dist/modern`,
    '/node_modules/mingo/dist': `${ROOT}node_modules/mingo/dist`,
    '/dist': dist === undefined ? buildIfStale() : resolve(dist),
  });
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
      const { measured, load } = await measureWorkload(browser, workload, {
        origin: server.origin(),
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
      const checked = checkLimits(limits, measured);
      const result = { name, title, rounds, load, measured, checked };
      printWorkload(result, smoke);
      results.workloads.push(result);
      const contenders = Object.keys(workload.contenders).filter((it) => !without.includes(it));
      expected.push({ workload, sizes, contenders });
    }
    checkResults(results, expected);
    console.log(`\nwritten to ${writeResults(results, 'limits')}`);
  } finally {
    await browser?.close();
    server.close();
  }
}
