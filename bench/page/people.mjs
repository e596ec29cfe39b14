import { makeDocuments, randomNumbers } from './documents.mjs';

/**
 * The documents of the benchmark: those of `documents.mjs` with a key and a unique
 * number, so that sorting by it is deterministic.
 *
 * @typedef {import('./documents.mjs').Person & { id: string, score: number }} Keyed
 */

const ID_LENGTH = 20;
const ID_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
/** Later documents score above all initial ones. */
const SCORES_A_PART = 10_000_000;

/**
 * @param {number} size
 * @param {number} seed
 * @param {number} [part] 0 for those that are there first, others for documents that come later
 * @returns {Keyed[]}
 */
export function makePeople(size, seed, part = 0) {
  const random = randomNumbers(seed * 1_009 + part);
  const scores = Int32Array.from({ length: size }, (_, index) => index);
  for (let last = size - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const kept = /** @type {number} */ (scores[last]);
    scores[last] = /** @type {number} */ (scores[other]);
    scores[other] = kept;
  }
  return makeDocuments(size, seed + part * 101).map((document, index) => ({
    id: makeId(random),
    ...document,
    score: /** @type {number} */ (scores[index]) + part * SCORES_A_PART,
  }));
}

/** @param {() => number} random */
function makeId(random) {
  let id = '';
  while (id.length < ID_LENGTH) id += ID_ALPHABET[Math.floor(random() * ID_ALPHABET.length)];
  return id;
}

/**
 * The same documents with the key named as a database requires.
 *
 * @param {readonly Keyed[]} people
 * @param {'id' | '_id'} key
 * @returns {Record<string, any>[]}
 */
export function withKey(people, key) {
  if (key === 'id') return people.map((person) => ({ ...person }));
  return people.map(({ id, ...rest }) => ({ [key]: id, ...rest }));
}
