import { randomNumbers } from '../page/documents.mjs';
import { shuffle } from '../page/statistics.mjs';
import { workloads as inPage } from '../page/workloads.mjs';
import { measureBundle } from './bundle-size.mjs';
import { live, weigh, withBrowser } from './life.mjs';
import { TooSlow } from './page-calls.mjs';

/**
 * @typedef {import('./contender.mjs').Contender} Contender
 *
 * @typedef {object} Measured
 * @property {number} size
 * @property {string} contender
 * @property {string} workload
 * @property {string} metric
 * @property {number[]} values one for each run
 *
 * @typedef {object} Failure
 * @property {number} size
 * @property {string} contender
 * @property {boolean} slow whether it only took too long
 * @property {string} reason
 *
 * @typedef {object} Round a contender that is not measured again
 * @property {number} size
 * @property {string} contender
 * @property {number} seconds
 */

/** For the check in advance, which also shows the loaded code. */
const CHECK_SIZE = 100;
const CHECKED_AT_ONCE = 4;
/** Slowness must not fail the run. */
const CHECK_DEADLINE_MS = 300_000;
const ALL = inPage.map(({ name }) => name);
const PATIENCE_MS = 2_000;
const CHECK_PATIENCE_MS = 200;
const DEADLINE_MS = 60_000;
const DEADLINE_MS_A_DOCUMENT = 2;

/** Runs all contenders, size by size and round by round, and collects their figures. */
export class Measurement {
  /** @type {Map<string, Measured>} */
  #measured = new Map();
  /** @type {Failure[]} */
  failures = [];
  /** @type {Round[]} */
  long = [];
  #server;
  #contenders;
  #workloads;
  #seed;
  #once;

  /**
   * @param {import('../shared/server.mjs').Server} server
   * @param {readonly Contender[]} contenders
   * @param {Pick<import('./options.mjs').Options, 'workloads' | 'seed' | 'once'>} options
   */
  constructor(server, contenders, { workloads, seed, once }) {
    this.#server = server;
    this.#contenders = contenders;
    this.#workloads = workloads;
    this.#seed = seed;
    this.#once = once;
  }

  /** Adds to the figures of earlier rounds. @param {import('./results.mjs').Results} earlier */
  goOn({ measured, failures, long = [] }) {
    this.failures.push(...failures);
    this.long.push(...long);
    for (const entry of measured) this.#measured.set(keyOf(entry), entry);
  }

  get measured() {
    return [...this.#measured.values()];
  }

  /**
   * Every workload on few documents, several at a time: checks them and measures their code size.
   */
  async check() {
    const waiting = [...this.#contenders].reverse(); // the slowest are last
    await withBrowser(async (openPage) => {
      const checkSome = async () => {
        const page = await openPage();
        for (let next = waiting.shift(); next; next = waiting.shift()) {
          await this.#checkOne(page, next);
        }
      };
      await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, checkSome));
    });
  }

  /** @param {import('playwright-core').Page} page @param {Contender} contender */
  async #checkOne(page, contender) {
    const start = performance.now();
    const terms = {
      ...this.#terms(CHECK_SIZE, 0),
      patience: CHECK_PATIENCE_MS,
      deadline: CHECK_DEADLINE_MS,
      hasty: true,
    };
    const { name, peer } = contender;
    let done = 0;
    await this.#try(contender, CHECK_SIZE, () =>
      live(page, this.#server.origin(name), contender, terms, ALL, () => done++),
    );
    console.log(`  ${name}: ${done} workloads, ${secondsSince(start).toFixed(1)} s`);
    if (!this.#workloads.includes('bundle') || peer.kind === 'limit') return;
    this.#note(0, name, 'bundle', measureBundle(this.#server.loadedBy(name)));
  }

  /** @param {number} size @param {number} round */
  async round(size, round) {
    const order = shuffle(this.#contenders, randomNumbers(this.#seed * 31 + round));
    for (const contender of order) {
      if (this.#hasFailed(contender, size) || this.#tookLong(contender, size)) continue;
      const { name } = contender;
      const start = performance.now();
      await this.#try(contender, size, () => this.#live(contender, size, round));
      const took = secondsSince(start);
      if (round === 1 && took > this.#once)
        this.long.push({ size, contender: name, seconds: Math.round(took) });
      console.log(
        `  ${size.toLocaleString('en-US')}, round ${round}: ${name} ${took.toFixed(1)} s`,
      );
    }
  }

  /** @param {Contender} contender @param {number} size */
  #tookLong({ name }, size) {
    return this.long.some((it) => it.contender === name && it.size === size);
  }

  /**
   * A contender that failed at this or a smaller size is skipped. @param {Contender} contender
   * @param {number} size
   */
  #hasFailed({ name }, size) {
    return this.failures.some(
      (it) => it.contender === name && (it.size === size || it.size === CHECK_SIZE),
    );
  }

  /** @param {Contender} contender @param {number} size @param {number} round */
  async #live(contender, size, round) {
    const origin = this.#server.origin(contender.name);
    const terms = this.#terms(size, round);
    if (round === 1 && contender.peer.keeps && this.#workloads.includes('disk')) {
      const bytes = await weigh(origin, contender, terms);
      this.#note(size, contender.name, 'disk', { MB: bytes / 1e6 });
    }
    const note = (/** @type {string} */ workload, /** @type {Record<string, number>} */ figures) =>
      this.#note(size, contender.name, workload, figures);
    await withBrowser(async (openPage) =>
      live(await openPage(), origin, contender, terms, this.#workloads, note),
    );
  }

  /**
   * Records a failure and continues. @param {Contender} contender @param {number} size @param {()
   * => Promise<void>} run
   */
  async #try(contender, size, run) {
    try {
      await run();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const slow = error instanceof TooSlow;
      this.failures.push({ size, contender: contender.name, slow, reason });
      console.log(`  ${slow ? 'too slow' : 'FAILED'}: ${reason}`);
    }
  }

  /** @param {number} size @param {number} round @returns {import('./page-calls.mjs').Terms} */
  #terms(size, round) {
    const deadline = DEADLINE_MS + size * DEADLINE_MS_A_DOCUMENT;
    return { size, seed: this.#seed, round, patience: PATIENCE_MS, deadline, hasty: false };
  }

  /**
   * @param {number} size @param {string} contender @param {string} workload @param {Record<string,
   *   number>} figures
   */
  #note(size, contender, workload, figures) {
    for (const [metric, value] of Object.entries(figures)) {
      const about = { size, contender, workload, metric };
      const entry = this.#measured.get(keyOf(about)) ?? { ...about, values: [] };
      entry.values.push(value);
      this.#measured.set(keyOf(about), entry);
    }
  }
}

/** @param {Omit<Measured, 'values'>} measured */
const keyOf = ({ size, contender, workload, metric }) =>
  `${size} ${contender} ${workload} ${metric}`;

/** @param {number} start */
const secondsSince = (start) => (performance.now() - start) / 1_000;
