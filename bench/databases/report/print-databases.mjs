import { figure, printTable } from '../../shared/print-table.mjs';
import { rank } from './ranking.mjs';

/** @param {number | undefined} value */
const optional = (value) => (value === undefined ? '' : figure(value));

/** @param {import('../results.mjs').Results} results */
export function printDatabases(results) {
  const sizes = new Set(results.measured.map(({ size }) => size).filter((size) => size > 0));
  for (const size of sizes.size > 0 ? sizes : [0]) {
    for (const { workload, metric, unit, what, entries } of rank(results, size)) {
      const figures = metric === unit ? unit : `${metric}, ${unit}`;
      console.log(`\n${size.toLocaleString('en-US')} · ${workload} · ${figures}: ${what}`);
      printTable([
        ['', 'median', 'min', 'max', 'runs', '/ best peer', '/ limit'],
        ...entries.map(({ contender, median, min, max, runs, toBest, toLimit }) => [
          contender.name,
          figure(median),
          figure(min),
          figure(max),
          String(runs),
          optional(toBest),
          optional(toLimit),
        ]),
      ]);
    }
  }
}
