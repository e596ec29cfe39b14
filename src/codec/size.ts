import type { Body } from './body.ts';

/** The rough size of a body in bytes, as segments and pools count it. */
export function bodySize(body: Body): number {
  return typeof body === 'string' ? body.length : sizeOf(body.exact);
}

/** The rough size of a value in bytes: enough to cut segments and to bound pools, and quick to find. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  let size = 8;
  if (value instanceof Map) {
    for (const [key, item] of value) size += sizeOf(key) + sizeOf(item);
  } else if (value instanceof Set) {
    for (const item of value) size += sizeOf(item);
  } else if (Array.isArray(value)) {
    // Only the items that exist: a sparse array may say it is four billion long.
    for (const item of Object.values(value)) size += sizeOf(item);
  } else {
    for (const key of Object.keys(value)) {
      size += key.length + sizeOf((value as Record<string, unknown>)[key]);
    }
  }
  return size;
}
