import { count } from './limits.mjs';
import { summarize } from './statistics.mjs';

/** Share of other work above which medians mislead. */
const BUSY = 0.3;

/** @param {number} value */
function figure(value) {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** @param {string[][]} rows the first is the head; the first column is of text */
function printTable(rows) {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths?.[column] ?? 0) : cell.padStart(widths?.[column] ?? 0),
    );
    console.log(`  ${cells.join('  ')}`);
  }
}

/** @param {import('./results.mjs').Machine} machine */
export function printMachine({ browser, cores, processor, system }) {
  console.log(`${browser}, ${cores} cores (${processor}), ${system}`);
}

/**
 * @param {import('./results.mjs').WorkloadResult} result
 * @param {boolean} smoke whether the sizes are too small for limits
 */
export function printWorkload({ name, title, rounds, load, measured, checked }, smoke) {
  console.log(`\n${name}: ${title}; ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`);
  if (load > BUSY) {
    console.log(
      `  The machine was ${Math.round(load * 100)} % busy with other work: trust the minima.`,
    );
  }
  printTable([
    ['documents, contender: metric', 'median', 'min', 'max'],
    ...measured.map(({ size, contender, metric, values }) => {
      const { median, min, max } = summarize(values);
      return [`${count(size)} ${contender}: ${metric}`, figure(median), figure(min), figure(max)];
    }),
  ]);
  if (smoke || checked.length === 0) return;
  console.log('');
  printTable([
    ['ratio or figure', 'of medians', 'of minima', 'limit', ''],
    ...checked.map(({ what, value, best, limit, reached }) => [
      what,
      figure(value),
      figure(best),
      limit,
      reached === undefined ? '' : reached ? 'reached' : 'MISSED',
    ]),
  ]);
}
