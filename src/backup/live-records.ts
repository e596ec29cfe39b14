import { hashText } from '../codec/hash-text.ts';
import { hashKeys, repeatedHashes } from '../storage/segments/key-hashes.ts';
import type { TakeSegment } from '../storage/segments/read-segments.ts';
import type { Segment } from '../storage/segments/segment.ts';

/** Reads segments by their numbers, in the order given. */
export type ReadSegments = (numbers: readonly number[], take: TakeSegment) => Promise<void>;

/**
 * The live records of a list of segments: the latest version of each key. Hashes of the keys find
 * the few keys that may occur twice; only their segments are read a second time, so not all keys
 * are in memory.
 */
export class LiveRecords {
  /** By segment: 1 for each superseded record. */
  readonly #dead = new Map<number, Uint8Array>();
  #count = 0;

  /** @param numbers In ascending order: the highest wins. */
  static async find(read: ReadSegments, numbers: readonly number[]): Promise<LiveRecords> {
    const rows = new LiveRecords();
    /** Hashes of put and deleted keys, by segment. */
    const hashes = new Map<number, Uint32Array>();
    await read(numbers, ({ number, keys, deletes }, put) => {
      rows.#count += keys.length;
      hashes.set(number, deletes.length > 0 ? hashKeys([...keys, ...deletes]) : put);
    });
    const repeated = repeatedHashes(hashes.values());
    const again = numbers
      .filter((number) => repeated.size > 0 && hashes.get(number)?.some((one) => repeated.has(one)))
      .reverse();
    /** Keys with a newer version. */
    const newer = new Set<string>();
    await read(again, (segment) => rows.#take(segment, repeated, newer));
    return rows;
  }

  get count(): number {
    return this.#count;
  }

  isLive(segment: number): (index: number) => boolean {
    const dead = this.#dead.get(segment);
    return dead ? (index) => dead[index] !== 1 : () => true;
  }

  #take(
    { number, keys, deletes }: Segment,
    repeated: ReadonlySet<number>,
    newer: Set<string>,
  ): void {
    const dead = new Uint8Array(keys.length);
    for (const [index, key] of keys.entries()) {
      if (!repeated.has(hashText(key))) continue;
      if (newer.has(key)) {
        dead[index] = 1;
        this.#count--;
      } else newer.add(key);
    }
    // Deletes of a segment apply before its records.
    for (const key of deletes) if (repeated.has(hashText(key))) newer.add(key);
    this.#dead.set(number, dead);
  }
}
