import { hashText } from '../../storage/integrity/checksum.ts';

/** A hash of JSON, whatever the order of its keys: servers do not keep it. */
export function hashJson(value: unknown): string {
  return hashText(canonicalJson(value)).toString(16).padStart(8, '0');
}

/** JSON with the keys of all objects in one order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sorted);
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
