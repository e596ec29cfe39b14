import { summarize } from '../page/statistics.mjs';
import { COMPARED, compared } from '../shared/compare.mjs';
import { figure, printTable } from '../shared/print-table.mjs';
import { count } from './limits.mjs';

/** Share of other load above which medians mislead. */
const BUSY = 0.3;

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

/**
 * Not of the ratios, whose other side differs from round to round too. What is no Cairn shows how
 * much chance there is.
 *
 * @param {readonly import('./measure-workload.mjs').Measured[]} now
 * @param {readonly import('./measure-workload.mjs').Measured[]} then of another build, in the same
 *   rounds
 * @param {string} commit of the other build
 */
export function printComparison(now, then, commit) {
  const rows = now.flatMap(({ size, contender, metric, values }) => {
    const other = then.find(
      (one) => one.size === size && one.contender === contender && one.metric === metric,
    );
    if (!other) return [];
    return [[`${count(size)} ${contender}: ${metric}`, ...compared(values, other.values)]];
  });
  console.log('');
  printTable([[`this build and ${commit}`, ...COMPARED], ...rows]);
}
