/**
 * The definition of one workload. Its file is loaded twice: here, for its contenders and limits,
 * and in the page, where `prepare` and the contenders run.
 *
 * @typedef {object} Workload
 * @property {string} name the name of its file
 * @property {string} title
 * @property {number[]} sizes how many documents
 * @property {number[]} smokeSizes small ones, that only show that everything runs
 * @property {boolean} [freshPage] whether the page is loaded anew before each measurement
 * @property {(input: Input) => Promise<unknown>} [prepare] runs once a size; what it returns
 *   reaches the contenders
 * @property {Record<string, Contender>} contenders
 * @property {Limit[]} limits
 *
 * @typedef {object} Input
 * @property {string} database a name that nobody has used; with `prepare`, the same for a size
 * @property {number} size
 * @property {any} prepared
 *
 * @typedef {(input: Input) => Promise<Record<string, number>>} Contender returns figures by metric
 *
 * A figure, or a ratio of two, with its limit. Figures are named
 * `contender: metric`.
 * @typedef {object} Limit
 * @property {string} figure
 * @property {string} [per] the figure it is divided by
 * @property {number} [atMost]
 * @property {number} [atLeast]
 * @property {'acrossSizes'} [compare] divides the figure at the largest size by that at the
 *   smallest
 */

/** Types a workload. @param {Workload} workload */
export const defineWorkload = (workload) => workload;
