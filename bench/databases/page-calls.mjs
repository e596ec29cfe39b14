import { isCairn } from './contender.mjs';

/**
 * @typedef {import('./contender.mjs').Contender} Contender
 * @typedef {import('../page/model.mjs').Change} Change
 *
 * @typedef {object} Terms on which everybody is measured
 * @property {number} size documents
 * @property {number} seed
 * @property {number} round
 * @property {number} patience milliseconds after which a loop stops early
 * @property {boolean} hasty whether to check correctness only
 * @property {number} deadline milliseconds for one call into the page
 */

/** A call timed out. */
export class TooSlow extends Error {}

/** Calls into a page for one contender: each on a fresh page and with a deadline. */
export class PageCalls {
  #page;
  #origin;
  #contender;
  #terms;
  #database;
  /** Changes so far. @type {Change[]} */
  #changes = [];
  /** Chunks that this build of Cairn loads lazily. @type {readonly string[]} */
  #parts = [];

  /**
   * @param {import('playwright-core').Page} page
   * @param {string} origin
   * @param {Contender} contender
   * @param {Terms} terms
   */
  constructor(page, origin, contender, terms) {
    this.#page = page;
    this.#origin = origin;
    this.#contender = contender;
    this.#terms = terms;
    this.#database = `${contender.name}-${terms.size}-${terms.round}`;
  }

  /**
   * Finds the lazy chunks of this contender, so that they are loaded before anything is measured.
   */
  async rehearse() {
    if (isCairn(this.#contender)) this.#parts = await this.#call('rehearse');
  }

  /** Inserts all documents without measuring. */
  async fill() {
    await this.#call('fill');
  }

  /** @param {string} workload @returns {Promise<Record<string, number> | undefined>} */
  async perform(workload) {
    const { figures, changes } = await this.#call('perform', workload);
    this.#changes.push(...changes);
    return figures;
  }

  /** Compares every document with the model. */
  async verify() {
    await this.#call('verify');
  }

  async #reload() {
    await this.#page.goto(`${this.#origin}/page/index.html`);
  }

  /**
   * Whether a workload needs a page that has not seen the documents. @param {string} part @param
   * {string} [workload]
   */
  #isAboutReload(part, workload) {
    const isFirst = !this.#page.url().startsWith(`${this.#origin}/`);
    const { keeps } = this.#contender.peer; // without persistence each page starts empty
    return !keeps || isFirst || part === 'verify' || workload === 'first-answer';
  }

  /**
   * @param {'rehearse' | 'fill' | 'perform' | 'verify'} part @param {string} [workload] @returns
   *   {Promise<any>}
   */
  async #call(part, workload) {
    const { peer, cairn } = this.#contender;
    const { deadline, ...terms } = this.#terms;
    if (!terms.hasty || this.#isAboutReload(part, workload)) await this.#reload();
    const request = {
      peer: peer.name,
      cairn: { url: `${this.#origin}${cairn}/index.js`, parts: this.#parts },
      database: this.#database,
      ...terms,
      changes: this.#changes,
    };
    const answer = this.#page.evaluate(
      /** @returns {Promise<unknown>} */
      ([name, of, given]) => {
        const { bench } = /** @type {{ bench: import('./page/main.mjs').Bench }} */ (
          /** @type {unknown} */ (globalThis)
        );
        return name === 'perform' ? bench.perform(of, given) : bench[name](given);
      },
      /** @type {const} */ ([part, workload ?? '', request]),
    );
    const what = `${this.#contender.name}, ${workload ?? part}`;
    return within(deadline, what, answer);
  }
}

/**
 * @template T
 * @param {number} ms
 * @param {string} what
 * @param {Promise<T>} promise
 */
async function within(ms, what, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new TooSlow(`${what}: took longer than ${ms / 1_000} s`)), ms);
  });
  promise.catch(() => {}); // a late promise may reject when the browser closes
  try {
    return await /** @type {Promise<T>} */ (Promise.race([promise, late]));
  } catch (cause) {
    if (cause instanceof TooSlow) throw cause;
    throw new Error(`${what}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
