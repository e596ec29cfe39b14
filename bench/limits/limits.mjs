import { summarize } from '../page/statistics.mjs';

/**
 * @typedef {import('./measure-workload.mjs').Measured} Measured
 * @typedef {import('./workload.mjs').Limit} Limit
 *
 * @typedef {object} Checked a limit with what was measured
 * @property {string} what
 * @property {number} value of the medians
 * @property {number} best of the minima
 * @property {string} limit empty if there is none
 * @property {boolean | undefined} reached
 */

/**
 * @param {readonly Limit[]} limits
 * @param {readonly Measured[]} measured
 * @returns {Checked[]}
 */
export function checkLimits(limits, measured) {
  const sizes = [...new Set(measured.map(({ size }) => size))];
  return limits.flatMap((limit) =>
    limit.compare === 'acrossSizes'
      ? compareSizes(limit, measured, sizes)
      : sizes.flatMap((size) => compareFigures(limit, measured, size)),
  );
}

/** @param {Limit} limit @param {readonly Measured[]} measured @param {number} size */
function compareFigures(limit, measured, size) {
  const figure = find(measured, limit.figure, size);
  const per = limit.per === undefined ? { median: 1, min: 1 } : find(measured, limit.per, size);
  if (!figure || !per) return [];
  const what = limit.per === undefined ? limit.figure : `${limit.figure} / ${limit.per}`;
  return [judge(limit, `${count(size)} ${what}`, figure, per)];
}

/** @param {Limit} limit @param {readonly Measured[]} measured @param {number[]} sizes */
function compareSizes(limit, measured, sizes) {
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  const figure = find(measured, limit.figure, largest);
  const per = find(measured, limit.figure, smallest);
  if (!figure || !per || smallest === largest) return [];
  const what = `${limit.figure}, ${count(largest)} / ${count(smallest)}`;
  return [judge(limit, what, figure, per)];
}

/**
 * @param {Limit} limit
 * @param {string} what
 * @param {{ median: number, min: number }} figure
 * @param {{ median: number, min: number }} per
 * @returns {Checked}
 */
function judge({ atMost, atLeast }, what, figure, per) {
  const value = figure.median / per.median;
  const best = figure.min / per.min;
  if (atMost !== undefined) {
    return { what, value, best, limit: `≤ ${atMost}`, reached: value <= atMost };
  }
  if (atLeast !== undefined) {
    return { what, value, best, limit: `≥ ${atLeast}`, reached: value >= atLeast };
  }
  return { what, value, best, limit: '', reached: undefined };
}

/** @param {readonly Measured[]} measured @param {string} figure @param {number} size */
function find(measured, figure, size) {
  const found = measured.find(
    (entry) => entry.size === size && `${entry.contender}: ${entry.metric}` === figure,
  );
  return found && summarize(found.values);
}

/** @param {number} number */
export const count = (number) => number.toLocaleString('en-US');
