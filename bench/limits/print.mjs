import { summarize } from '../page/statistics.mjs';
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
 * @param {readonly import('./limits.mjs').Checked[]} now
 * @param {readonly import('./limits.mjs').Checked[]} then of another build, in the same rounds
 * @param {string} commit of the other build
 */
export function printComparison(now, then, commit) {
  const rows = now.flatMap(({ what, value, best }) => {
    const other = then.find((one) => one.what === what);
    if (!other) return [];
    const ratios = [value / other.value, best / other.best];
    return [[what, ...[value, other.value, ...ratios].map(figure)]];
  });
  console.log('');
  printTable([['ratio or figure', 'now', `at ${commit}`, 'now / then', 'of minima'], ...rows]);
}
