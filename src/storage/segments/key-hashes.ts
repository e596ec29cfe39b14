import { hashText } from '../../codec/hash-text.ts';

/** Hashes of keys: 4 bytes each, where an entry in a map of keys takes more than 100. */
export function hashKeys(keys: readonly string[]): Uint32Array {
  const hashes = new Uint32Array(keys.length);
  for (let index = 0; index < keys.length; index++) hashes[index] = hashText(keys[index] as string);
  return hashes;
}

/**
 * The hashes that occur more than once: of one repeated key, or by collision, a few hundred per
 * million keys. docs/decisions/019-lazy-key-map.md has the reasons.
 */
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

/**
 * A key that occurs twice. A set of a million keys takes 0.6 to 0.8 s, to sort their hashes 50 ms.
 *
 * @param hashes Of all keys, in lists one after another.
 */
export function repeatedKey(
  keys: readonly string[],
  hashes: readonly Uint32Array[],
): string | undefined {
  const repeated = repeatedHashes(hashes);
  if (repeated.size === 0) return undefined;
  const seen = new Set<string>();
  let row = 0;
  for (const list of hashes) {
    for (const hash of list) {
      const key = keys[row++] as string;
      if (!repeated.has(hash)) continue;
      if (seen.has(key)) return key;
      seen.add(key);
    }
  }
  return undefined;
}
