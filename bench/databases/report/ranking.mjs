import { summarize } from '../../page/statistics.mjs';
import { workloads } from '../catalogue.mjs';
import { isCairn } from '../contender.mjs';

/**
 * @typedef {import('../results.mjs').Results} Results
 * @typedef {Results['contenders'][number]} ContenderInfo
 *
 * @typedef {object} Entry the figure of one contender
 * @property {ContenderInfo} contender
 * @property {number} median
 * @property {number} min
 * @property {number} max
 * @property {number} runs
 * @property {number | undefined} toBest divided by that of the best other database that keeps what
 *   it is given
 * @property {number | undefined} toLimit divided by that of its limit
 *
 * @typedef {object} Ranking of one figure of all contenders, the smallest first
 * @property {string} workload
 * @property {string} title
 * @property {string} metric
 * @property {string} what
 * @property {string} unit
 * @property {boolean} durable
 * @property {Entry[]} entries
 * @property {Entry | undefined} best of the other databases that keep what they are given
 * @property {Entry | undefined} bestFromDisk of those that do not hold everything in memory
 */

/** Names of the lower bounds. */
const LIMITS = { storage: 'indexeddb', page: 'loop', worker: 'message' };

/** All figures at one size. @param {Results} results @param {number} size @returns {Ranking[]} */
export function rank(results, size) {
  return workloads.flatMap(({ name: workload, title, metrics }) =>
    Object.entries(metrics).flatMap(([metric, { what, unit, limit, durable = false }]) => {
      const entries = results.measured
        .filter((it) => it.workload === workload && it.metric === metric)
        .filter((it) => it.size === size || it.size === 0) // 0: whatever the size
        .flatMap(({ contender: name, values }) => {
          const contender = results.contenders.find((it) => it.name === name);
          return contender ? [{ contender, ...summarize(values) }] : [];
        })
        .sort((a, b) => a.median - b.median);
      if (entries.length === 0) return [];
      const best = entries.find(({ contender }) => isPeerThatKeeps(contender));
      const ratios = entries.map((entry) => ({
        ...entry,
        toBest: ratio(entry, best),
        toLimit: ratio(entry, limitOf(entry.contender, limit, entries)),
      }));
      const peers = ratios.filter(({ contender }) => isPeerThatKeeps(contender));
      return [
        {
          ...{ workload, title, metric, what, unit, durable },
          entries: ratios,
          best: peers[0],
          bestFromDisk: peers.find(({ contender }) => !contender.resident),
        },
      ];
    }),
  );
}

/** @param {ContenderInfo} contender */
const isPeerThatKeeps = (contender) =>
  contender.kind === 'database' && contender.keeps && !isCairn(contender);

/**
 * @template {{ contender: ContenderInfo }} T
 * @param {ContenderInfo} contender
 * @param {'storage' | 'memory' | undefined} limit
 * @param {readonly T[]} entries
 */
function limitOf(contender, limit, entries) {
  if (!limit) return undefined;
  const name = limit === 'storage' ? LIMITS.storage : LIMITS[contender.runs];
  return entries.find((entry) => entry.contender.name === name);
}

/** @param {{ median: number }} entry @param {{ median: number } | undefined} other */
const ratio = (entry, other) =>
  other && other.median > 0 ? entry.median / other.median : undefined;
