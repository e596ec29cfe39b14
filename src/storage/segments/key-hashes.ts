import { hashText } from '../integrity/checksum.ts';

/** Hashes of keys. A hash takes 4 bytes, a key about 50, an entry in a map of keys more than 100. */
export function hashKeys(keys: readonly string[]): Uint32Array {
  const hashes = new Uint32Array(keys.length);
  for (let index = 0; index < keys.length; index++) hashes[index] = hashText(keys[index] as string);
  return hashes;
}

/** The hashes that occur more than once: of one repeated key, or by collision, a few hundred per million keys. */
export function repeatedHashes(lists: Iterable<Uint32Array>): ReadonlySet<number> {
  const parts = [...lists];
  const all = new Uint32Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  all.sort();
  const repeated = new Set<number>();
  for (let index = 1; index < all.length; index++) {
    if (all[index] === all[index - 1]) repeated.add(all[index] as number);
  }
  return repeated;
}
