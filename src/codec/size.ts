import type { Body } from './body.ts';
import { isPlainObject, tagOf } from './kinds.ts';

/** Bytes of Blobs, counted separately: browsers store them as files, outside of memory. */
export interface BlobBytes {
  blobBytes: number;
}

/**
 * The rough size of an encoded document in bytes, without its Blobs: the unit of segments and
 * pools.
 *
 * @param blobs The bytes of Blobs are added to it.
 */
export function bodySize(body: Body, blobs: BlobBytes = { blobBytes: 0 }): number {
  return typeof body === 'string' ? body.length : sizeOf(body.exact, blobs);
}

function sizeOf(value: unknown, blobs: BlobBytes): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 8;
  if (Array.isArray(value)) {
    // Own items only: the length of a sparse array may be four billion.
    for (const item of Object.values(value)) size += sizeOf(item, blobs);
    return size;
  }
  if (isPlainObject(value)) {
    for (const key of Object.keys(value)) size += key.length + sizeOf(value[key], blobs);
    return size;
  }
  switch (tagOf(value)) {
    case 'ArrayBuffer':
    case 'View':
      return (value as ArrayBuffer | ArrayBufferView).byteLength;
    case 'Map':
      for (const [key, item] of value as Map<unknown, unknown>)
        size += sizeOf(key, blobs) + sizeOf(item, blobs);
      return size;
    case 'Set':
      for (const item of value as Set<unknown>) size += sizeOf(item, blobs);
      return size;
    case 'Blob':
    case 'File':
      blobs.blobBytes += (value as Blob).size;
      return size;
    default:
      return size;
  }
}
