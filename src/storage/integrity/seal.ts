import type { StorageKey } from '../drivers/driver.ts';
import { mixValue } from './checksum.ts';

/** A stored value with its checksum. */
export type Sealed<T> = T & {
  /** Over the other fields, and the key: a value under another key counts as damaged. */
  readonly checksum: number;
};

/** Adds the checksum. docs/decisions/037-integrity.md has the reasons. */
export function seal<T extends object>(key: StorageKey, value: T): Sealed<T> {
  return { ...value, checksum: sealChecksum(key, value) };
}

/** Whether a value is as it was sealed. Anything may be in storage. */
export function isIntact<T extends object>(
  key: StorageKey,
  value: T | undefined,
): value is Sealed<T> {
  try {
    return value !== undefined && sealChecksum(key, value) === (value as Sealed<T>).checksum;
  } catch {
    // Nested too deep, or `null`: nothing that was stored.
    return false;
  }
}

/** The order of the fields does not count: files have another. */
function sealChecksum(key: StorageKey, value: object): number {
  let hash = mixValue(0, key);
  for (const name of Object.keys(value).sort()) {
    const field = (value as Record<string, unknown>)[name];
    if (name === 'checksum' || field === undefined) continue;
    hash = mixValue(mixValue(hash, name), field);
  }
  return hash >>> 0;
}
