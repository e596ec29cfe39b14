/** npm run bench: measures the built library in a real browser. `-- --help` says what can be chosen. */
import { resolve } from 'node:path';
import { buildIfStale } from './build.mjs';
import { checkResults } from './check-results.mjs';
import { checkLimits } from './limits.mjs';
import { measureWorkload } from './measure-workload.mjs';
import { readOptions, usage } from './options.mjs';
import { printMachine, printWorkload } from './print.mjs';
import { describeMachine, FOLDER, writeResults } from './results.mjs';
import { startServer } from './server.mjs';

/** @param {import('./options.mjs').Options} options */
async function measure({ chosen, rounds, sizes: givenSizes, without, dist, profile, smoke }) {
  const server = await startServer(dist === undefined ? buildIfStale() : resolve(dist));
  try {
    const machine = await describeMachine();
    printMachine(machine);
    /** @type {import('./results.mjs').Results} */
    const results = { at: new Date().toISOString(), smoke, machine, workloads: [] };
    const expected = [];
    for (const workload of chosen) {
      const { name, title, limits } = workload;
      const sizes = givenSizes ?? (smoke ? workload.smokeSizes : workload.sizes);
      const profileTo = profile ? `${FOLDER}/profiles` : undefined;
      const { origin } = server;
      const { measured, load } = await measureWorkload(workload, {
        origin,
        rounds,
        sizes,
        without,
        patient: !smoke,
        profileTo,
      });
      const result = {
        name,
        title,
        rounds,
        load,
        measured,
        checked: checkLimits(limits, measured),
      };
      printWorkload(result, smoke);
      results.workloads.push(result);
      const contenders = Object.keys(workload.contenders).filter((it) => !without.includes(it));
      expected.push({ workload, sizes, contenders });
    }
    checkResults(results, expected);
    console.log(`\nwritten to ${writeResults(results)}`);
  } finally {
    server.close();
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await measure(options);
  else console.log(usage);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
