import type { StorageKey } from './driver.ts';

export function isKeyBelow(key: StorageKey, prefix: StorageKey): boolean {
  return prefix.every((part, index) => key[index] === part);
}

/** The order of keys: item by item, numbers before strings, the shorter first. */
export function compareKeys(a: StorageKey, b: StorageKey): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareParts(a[index] as string | number, b[index] as string | number);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(a: string | number, b: string | number): number {
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
