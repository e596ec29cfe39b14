import { hash, hashKeys, repeatedHashes } from '../storage/segments/key-hashes.ts';
import type { Segment } from '../storage/segments/segment.ts';

/** Reads segments by their numbers, in the order given. */
export type ReadSegments = (
  numbers: readonly number[],
  take: (segment: Segment) => void,
) => Promise<void>;

/**
 * Which records in a list of segments are the newest of their key, found without holding all keys: nearly all
 * keys come by once, which their hashes tell. Segments with others are read a second time.
 */
export class LiveRecords {
  /** By segment, a byte for each of its records that is superseded. */
  readonly #dead = new Map<number, Uint8Array>();
  #count = 0;

  /** @param numbers In ascending order: what a higher one says wins. */
  static async find(read: ReadSegments, numbers: readonly number[]): Promise<LiveRecords> {
    const rows = new LiveRecords();
    /** Of what is put and of what is deleted, by segment. */
    const hashes = new Map<number, Uint32Array>();
    await read(numbers, ({ number, keys, deletes }) => {
      rows.#count += keys.length;
      hashes.set(number, hashKeys([...keys, ...deletes]));
    });
    const repeated = repeatedHashes(hashes.values());
    const again = numbers
      .filter((number) => repeated.size > 0 && hashes.get(number)?.some((one) => repeated.has(one)))
      .reverse();
    /** Keys of which something newer was seen. */
    const newer = new Set<string>();
    await read(again, (segment) => rows.#take(segment, repeated, newer));
    return rows;
  }

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  /** How to tell those of a segment. */
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
      if (!repeated.has(hash(key))) continue;
      if (newer.has(key)) {
        dead[index] = 1;
        this.#count--;
      } else newer.add(key);
    }
    // A segment's deletes count before its own records.
    for (const key of deletes) if (repeated.has(hash(key))) newer.add(key);
    this.#dead.set(number, dead);
  }
}
