import { hashText } from '../../storage/integrity/checksum.ts';

/** A hash of JSON as text of eight digits, whatever the order of keys: servers do not keep it. */
export function hashJson(value: unknown): string {
  return (hashOf(value) >>> 0).toString(16).padStart(8, '0');
}

function hashOf(value: unknown): number {
  if (typeof value === 'string') return hashText(value);
  if (typeof value !== 'object' || value === null) return ~hashText(String(value));
  let hash = Array.isArray(value) ? 1 : 2;
  if (Array.isArray(value)) for (const item of value) hash = mix(hash) + hashOf(item);
  // A sum: the order does not matter.
  else
    for (const [key, item] of Object.entries(value)) hash += mix(hashText(key) + mix(hashOf(item)));
  return mix(hash);
}

/** The end of MurmurHash3. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
