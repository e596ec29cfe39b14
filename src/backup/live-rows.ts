import type { Segment } from '../storage/segment.ts';

/** Reads segments by their numbers, in the order given. */
export type ReadSegments = (
  numbers: readonly number[],
  take: (segment: Segment) => void,
) => Promise<void>;

/**
 * Which records in a list of segments are the newest of their key, found without holding all keys: nearly all
 * keys come by once, which their hashes tell. Segments with others are read a second time.
 */
export class LiveRows {
  /** By segment, a byte for each of its records that is superseded. */
  readonly #dead = new Map<number, Uint8Array>();
  #count = 0;

  /** @param numbers In ascending order: what a higher one says wins. */
  static async find(read: ReadSegments, numbers: readonly number[]): Promise<LiveRows> {
    const rows = new LiveRows();
    const hashes = new KeyHashes();
    await read(numbers, ({ number, keys, deletes }) => {
      rows.#count += keys.length;
      hashes.add(number, [keys, deletes]);
    });
    const repeated = hashes.repeated();
    const again = numbers.filter((number) => hashes.hasAny(number, repeated)).reverse();
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

/** The hashes of all keys, by segment: four bytes for each. */
class KeyHashes {
  readonly #hashes = new Map<number, Uint32Array>();
  #size = 0;

  add(segment: number, [keys, deletes]: readonly [readonly string[], readonly string[]]): void {
    const hashes = new Uint32Array(keys.length + deletes.length);
    for (let index = 0; index < keys.length; index++) hashes[index] = hash(keys[index] as string);
    for (let index = 0; index < deletes.length; index++)
      hashes[keys.length + index] = hash(deletes[index] as string);
    this.#hashes.set(segment, hashes);
    this.#size += hashes.length;
  }

  /** Those that came by more than once: a key twice, or by accident two keys, of a million some hundred. */
  repeated(): ReadonlySet<number> {
    const all = new Uint32Array(this.#size);
    let at = 0;
    for (const hashes of this.#hashes.values()) {
      all.set(hashes, at);
      at += hashes.length;
    }
    all.sort();
    const repeated = new Set<number>();
    for (let index = 1; index < all.length; index++) {
      if (all[index] === all[index - 1]) repeated.add(all[index] as number);
    }
    return repeated;
  }

  hasAny(segment: number, some: ReadonlySet<number>): boolean {
    return some.size > 0 && (this.#hashes.get(segment)?.some((one) => some.has(one)) ?? false);
  }
}

/** FNV-1a (Fowler, Noll, Vo), 32 bits. */
function hash(key: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    value = Math.imul(value ^ key.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
