/**
 * A part of the benchmark. Its figures have the form of those of the limits, so that they are
 * checked and printed alike.
 *
 * @typedef {object} Context
 * @property {import('./servers.mjs').Servers} servers
 * @property {boolean} smoke whether its figures mean nothing
 * @property {number} rounds
 * @property {import('./options.mjs').Options} options
 * @property {(text: string) => void} note prints something beside the figures, and keeps it with
 *   them
 *
 * @typedef {import('../limits/measure-workload.mjs').Measured} Measured
 *
 * @typedef {object} Part
 * @property {string} name
 * @property {string} title
 * @property {import('../limits/workload.mjs').Limit[]} limits
 * @property {(context: Context) => Promise<{ measured: Measured[], load?: number, ran?: number }>}
 *   run `ran`: its rounds, if others than asked for
 */

/** Types a part. @param {Part} part */
export const definePart = (part) => part;

/** Gathers figures of rounds. */
export class Figures {
  /** @type {Map<string, Measured>} */
  #measured = new Map();

  /**
   * @param {number} size @param {string} contender @param {Record<string, number>} figures by
   *   metric
   */
  add(size, contender, figures) {
    for (const [metric, value] of Object.entries(figures)) {
      const key = `${size} ${contender}: ${metric}`;
      const entry = this.#measured.get(key) ?? { size, contender, metric, values: [] };
      entry.values.push(value);
      this.#measured.set(key, entry);
    }
  }

  get measured() {
    return [...this.#measured.values()];
  }
}
