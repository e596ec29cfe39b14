/** Documents of about 280 bytes as JSON, deterministic for a seed. */

/** Documents in each group. */
export const GROUP_SIZE = 200;

const NAMES = ['Ada', 'Bela', 'Chidi', 'Dalia', 'Emre', 'Fatou', 'Goro', 'Hana', 'Ines', 'Jonas'];
const CITIES = [
  'Porto',
  'Lagos',
  'Oslo',
  'Quito',
  'Hanoi',
  'Turin',
  'Perth',
  'Kyoto',
  'Lima',
  'Riga',
];
const REGIONS = ['north', 'east', 'south', 'west'];
const WORDS = 'river stone letter garden window copper signal harbour winter paper'.split(' ');

/**
 * @typedef {object} Person
 * @property {string} name
 * @property {string} email
 * @property {number} age
 * @property {string} region
 * @property {number} group
 * @property {boolean} active
 * @property {{ city: string, street: string, zip: string }} address
 * @property {string[]} tags
 * @property {string} bio
 */

/** Mulberry32: numbers from 0 to below 1. @param {number} seed */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Documents in groups of 200 scattered ones.
 *
 * @param {number} size
 * @param {number} [seed]
 * @param {number} [groups] for a part of more documents: how many they have together
 * @returns {Person[]}
 */
export function makeDocuments(size, seed = 1, groups = groupCount(size)) {
  const group = scatterGroups(size, seed, groups);
  const random = randomNumbers(seed);
  const upTo = (/** @type {number} */ limit) => Math.floor(random() * limit);
  /** @type {<T>(list: T[]) => T} */
  const pick = (list) => /** @type {any} */ (list[upTo(list.length)]);
  const documents = Array.from({ length: size }, (_, index) => {
    const name = pick(NAMES);
    return {
      name: `${name} ${pick(WORDS)}`,
      email: `${name.toLowerCase()}.${index}@example.com`,
      age: upTo(90),
      region: pick(REGIONS),
      group: /** @type {number} */ (group[index]),
      active: random() < 0.5,
      address: {
        city: pick(CITIES),
        street: `${pick(WORDS)} street ${upTo(200)}`,
        zip: String(10_000 + upTo(90_000)),
      },
      tags: [pick(WORDS), pick(WORDS)],
      bio: Array.from({ length: 11 }, () => pick(WORDS)).join(' '),
    };
  });
  // Flattens joined strings, which would cost the first contender that reads them.
  return JSON.parse(JSON.stringify(documents));
}

const PART = 100_000;

/** Documents in parts, to limit memory. @param {number} size */
export function* makeParts(size) {
  for (let from = 0; from < size; from += PART) {
    yield makeDocuments(Math.min(PART, size - from), 1 + from / PART, groupCount(size));
  }
}

/** @param {number} size */
export const groupCount = (size) => Math.ceil(size / GROUP_SIZE);

/**
 * The group of each document: equal sizes, no neighbours. @param {number} size @param {number} seed
 * @param {number} groups
 */
function scatterGroups(size, seed, groups) {
  const random = randomNumbers(seed + 1_000);
  const first = (seed - 1) * PART;
  const list = Uint32Array.from({ length: size }, (_, index) => (first + index) % groups);
  for (let last = size - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const kept = /** @type {number} */ (list[last]);
    list[last] = /** @type {number} */ (list[other]);
    list[other] = kept;
  }
  return list;
}
