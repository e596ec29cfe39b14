import type { Storage, StorageKey } from '../drivers/driver.ts';
import { isIntact } from '../integrity/seal.ts';
import { readRecord } from '../segments/record-part.ts';
import type { Segment } from '../segments/segment.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { checkpointKey } from './checkpoint-format.ts';

/** Documents of a warm set, at most: as many as a first read may find. */
export const WARM_MOST = 1024;

/**
 * What is stored: the documents as a segment, and where each was found. A row of a segment never
 * changes, so its copy is right for as long as that segment counts.
 */
interface WarmValue extends Segment {
  /** The number of the segment of each. */
  readonly fromSegments: Float64Array;
  /** The row there. */
  readonly fromRows: Uint32Array;
}

/**
 * Copies of the documents that the last visit read first, in one value. Where they were found in
 * 150 segments, the same reads need none of these now. docs/decisions/040-first-reads.md has the
 * figures.
 */
export class WarmSet {
  readonly value: WarmValue;
  /** By segment and row, their row here. */
  readonly #rows = new Map<number, Map<number, number>>();

  /** @returns `undefined` where none can be read: the documents are in their segments, too. */
  static async read(storage: Storage, collection: string): Promise<WarmSet | undefined> {
    const key = warmKey(collection);
    const [value] = (await storage.getMany('bodies', [key]).catch(() => [])) as [WarmValue?];
    return isIntact(key, value) ? new WarmSet(value) : undefined;
  }

  constructor(value: WarmValue) {
    this.value = value;
    for (const [row, number] of value.fromSegments.entries()) {
      const known = this.#rows.get(number) ?? new Map<number, number>();
      this.#rows.set(number, known.set(value.fromRows[row] as number, row));
    }
  }

  /** The record of a row of a segment, with its body; `undefined` where it is not here. */
  record(number: number, index: number): StoredRecord | undefined {
    const row = this.#rows.get(number)?.get(index);
    if (row === undefined) return undefined;
    const record = readRecord(this.value, row, this.value.bodies?.[row]);
    record.segment = number;
    record.index = index;
    return record;
  }
}

export function warmKey(collection: string): StorageKey {
  return checkpointKey(collection, 'warm');
}
