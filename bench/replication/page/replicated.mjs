import { makeDocuments, randomNumbers } from '../../page/documents.mjs';

/** @typedef {import('../../page/documents.mjs').Person & { _id: string }} Identified */

/** @type {string} what users get, and not the source */
const REPLICATION = '/dist/replication.js';

/** @returns {Promise<typeof import('../../../src/replication/index.ts')>} */
export const replication = () => import(REPLICATION);

const ID_LENGTH = 21;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-';

/**
 * Documents with ids like those that Cairn makes. @param {number} size @param {number} [seed]
 * @returns {Identified[]}
 */
export function makeIdentified(size, seed = 1) {
  const random = randomNumbers(seed + 7_000);
  const letter = () => ALPHABET[Math.floor(random() * ALPHABET.length)];
  return makeDocuments(size, seed).map((document) => ({
    _id: Array.from({ length: ID_LENGTH }, letter).join(''),
    ...document,
  }));
}

/**
 * Replicates with a collection of the server that this page comes from.
 *
 * @param {import('../../limits/page/cairn.mjs').People} people
 * @param {string} remote the name of that collection
 */
export async function replicateWith(people, remote) {
  const { http, replicate } = await replication();
  return replicate(people, { remote: http({ url: `${location.origin}/sync/${remote}` }) });
}
