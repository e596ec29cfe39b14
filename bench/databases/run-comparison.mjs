import { resolve } from 'node:path';
import { buildIfStale } from '../shared/build.mjs';
import { buildCommit } from '../shared/build-commit.mjs';
import { buildPage } from '../shared/build-page.mjs';
import { COMPARED, compared } from '../shared/compare.mjs';
import { describeMachine, machineLine } from '../shared/machine.mjs';
import { printTable } from '../shared/print-table.mjs';
import { writeResults } from '../shared/results.mjs';
import { startServer } from '../shared/server.mjs';
import { workloads } from './catalogue.mjs';
import { contend } from './contender.mjs';
import { measureAll } from './measure-all.mjs';
import { readOptions } from './options.mjs';

const [NOW, THEN] = ['/dist', '/dist-then'];

/** Measures this build and that of another commit in the same rounds. @param {string[]} args */
export async function runComparison(args) {
  const options = readOptions(args);
  const { commit, folder } = buildCommit(options.compare ?? '');
  const server = await startServer({
    '/page': await buildPage('databases'),
    [NOW]: options.dist === undefined ? buildIfStale() : resolve(options.dist),
    [THEN]: folder,
  });
  const suffix = ` at ${commit}`;
  try {
    const machine = await describeMachine();
    console.log(machineLine(machine));
    const contenders = options.peers.flatMap((peer) => [
      contend(peer, NOW),
      contend(peer, THEN, suffix),
    ]);
    const { measured, failures } = await measureAll(server, contenders, options);
    printRatios(measured, options, suffix);
    const results = { at: new Date().toISOString(), commit, machine, measured, failures };
    console.log(`\nwritten to ${writeResults(results, 'comparison')}`);
    if (failures.length > 0) {
      throw new Error(`Failures:\n${failures.map(({ reason }) => `  ${reason}`).join('\n')}`);
    }
  } finally {
    server.close();
  }
}

/**
 * @param {readonly import('./measure-databases.mjs').Measured[]} measured
 * @param {import('./options.mjs').Options} options
 * @param {string} suffix
 */
function printRatios(measured, { peers, sizes }, suffix) {
  console.log('\nThis build divided by the other: below 1 is better.');
  const find = (
    /** @type {number} */ size,
    /** @type {string} */ contender,
    /** @type {string} */ workload,
    /** @type {string} */ metric,
  ) => {
    const found = measured.find(
      (it) =>
        (it.size === size || it.size === 0) &&
        it.contender === contender &&
        it.workload === workload &&
        it.metric === metric,
    );
    return found?.values;
  };
  for (const size of sizes) {
    for (const { name } of peers) {
      const rows = workloads.flatMap(({ name: workload, metrics }) =>
        Object.entries(metrics).flatMap(([metric, { unit }]) => {
          const now = find(size, name, workload, metric);
          const then = find(size, `${name}${suffix}`, workload, metric);
          if (!now || !then) return [];
          const cells = [...compared(now, then), String(now.length)];
          return [[`${workload}: ${metric}, ${unit}`, ...cells]];
        }),
      );
      if (rows.length === 0) continue;
      console.log(`\n${size.toLocaleString('en-US')} · ${name}`);
      printTable([['', ...COMPARED, 'runs'], ...rows]);
    }
  }
}
