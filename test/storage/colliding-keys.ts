/** Two pairs of keys with the same hash; `key-hashes.test.ts` checks that they have. */
export const COLLIDING = [
  ['uksfy', 'ouodm'],
  ['ukwzw', 'dkxan'],
] as const;
