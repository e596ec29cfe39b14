import { randomNumbers } from './documents.mjs';
import { checkFound, Model } from './model.mjs';
import { makePeople, withKey } from './people.mjs';
import { shuffle } from './statistics.mjs';

/**
 * @typedef {import('./peer.mjs').Store} Store
 * @typedef {import('./model.mjs').Change} Change
 *
 * @typedef {object} Given
 * @property {import('./peer.mjs').Peer} peer
 * @property {import('./peer.mjs').Libraries} libraries
 * @property {string} database a name for its database
 * @property {number} size how many documents it has been filled with
 * @property {number} seed of the documents
 * @property {number} round seeds the queries
 * @property {number} patience milliseconds after which a loop stops early
 * @property {boolean} hasty whether to check correctness only
 * @property {readonly Change[]} changes done since it was filled
 */

/** The context of a workload in one page. */
export class Session {
  /** @type {Change[]} */
  changes = [];
  random;
  #given;
  /** @type {Store | undefined} */
  #store;
  /** @type {Model | undefined} */
  #model;
  /** @type {import('./peer.mjs').Opener} */
  #opener;

  /** @param {Given} given @param {import('./peer.mjs').Opener} opener */
  constructor(given, opener) {
    this.#given = given;
    this.#opener = opener;
    this.random = randomNumbers(given.seed * 7_919 + given.round);
  }

  /** Loads the code of the peer. @param {Given} given */
  static async begin(given) {
    return new Session(given, await given.peer.load(given.libraries));
  }

  get peer() {
    return this.#given.peer;
  }

  get size() {
    return this.#given.size;
  }

  get hasty() {
    return this.#given.hasty;
  }

  get patience() {
    return this.#given.patience;
  }

  /** Number of repetitions: fewer in a smoke run. @param {number} usual */
  count(usual) {
    return this.size < usual ? this.size >> 2 : usual;
  }

  /** The expected documents. Built lazily: it takes time and memory. */
  get model() {
    return this.makeModel();
  }

  makeModel() {
    const { size, seed, changes } = this.#given;
    this.#model ??= new Model(size, seed, changes);
    return this.#model;
  }

  /** New documents. @param {number} part @param {number} count */
  newDocuments(part, count) {
    return withKey(makePeople(count, this.#given.seed, part), this.peer.key);
  }

  /** The initial documents. */
  firstDocuments() {
    return withKey(makePeople(this.size, this.#given.seed), this.peer.key);
  }

  /** Opens another database beside the one of this session. @param {string} suffix */
  openOther(suffix) {
    return this.#opener.open(`${this.#given.database}-${suffix}`);
  }

  /** Opens the database for the first time; it is closed at the end. */
  async open() {
    this.#store = await this.#opener.open(this.#given.database);
    return this.#store;
  }

  /** The database with all its documents. */
  async openFilled() {
    const store = this.#store ?? (await this.open());
    if (this.peer.keeps) return store;
    await store.insertMany(withKey([...this.model.documents.values()], this.peer.key));
    return store;
  }

  /** @param {Change} change */
  note(change) {
    this.changes.push(change);
    this.model.apply(change);
  }

  /** Ids of documents, drawn at random, each once. @param {number} count */
  drawIds(count) {
    return shuffle([...this.model.documents.keys()], this.random).slice(0, count);
  }

  /**
   * @param {string} what
   * @param {unknown} found
   * @param {readonly import('./people.mjs').Keyed[]} expected
   * @param {{ ordered?: boolean }} [options]
   */
  check(what, found, expected, { ordered = false } = {}) {
    checkFound(what, found, expected, { plain: this.peer.plain, ordered });
  }

  async end() {
    await this.#store?.close();
  }
}
