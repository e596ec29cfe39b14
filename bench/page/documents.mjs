/** Documents of about 280 bytes as JSON: the same for the same seed, on every machine. */

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
 * @property {boolean} active
 * @property {{ city: string, street: string, zip: string }} address
 * @property {string[]} tags
 * @property {string} bio
 */

/** Mulberry32: numbers from 0 up to 1. @param {number} seed */
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
 * @param {number} size
 * @param {number} [seed]
 * @returns {Person[]}
 */
export function makeDocuments(size, seed = 1) {
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
      active: random() < 0.5,
      address: {
        city: pick(CITIES),
        street: `${pick(WORDS)} street ${upTo(200)}`,
        zip: String(10_000 + upTo(90_000)),
      },
      tags: [pick(WORDS), pick(WORDS)],
      bio: Array.from({ length: 13 }, () => pick(WORDS)).join(' '),
    };
  });
  // Joined strings are flattened when they are first read; whoever comes first would pay for it.
  return JSON.parse(JSON.stringify(documents));
}
