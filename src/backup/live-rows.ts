import type { Segment } from '../storage/segment.ts';

/** Reads segments by their numbers, in the order given. */
export type ReadSegments = (
  numbers: readonly number[],
  take: (segment: Segment) => void,
) => Promise<void>;

/**
 * Which records in a list of segments are the newest of their key, found without holding all keys: nearly all
 * keys come by once. Those whose hash comes by again are looked at a second time.
 */
export class LiveRows {
  /** By segment, a byte for each of its records that is superseded. */
  readonly #dead = new Map<number, Uint8Array>();
  #count = 0;

  /**
   * @param numbers In ascending order: what a higher one says wins.
   * @param keys How many keys come by, roughly.
   */
  static async find(
    read: ReadSegments,
    numbers: readonly number[],
    keys = MANY_KEYS,
  ): Promise<LiveRows> {
    const repeated = new RepeatedKeys(keys);
    await read(numbers, ({ keys, deletes }) => {
      for (const key of keys) repeated.note(key);
      for (const key of deletes) repeated.note(key);
    });
    const rows = new LiveRows();
    /** Keys of which something newer was seen. */
    const newer = new Set<string>();
    await read([...numbers].reverse(), (segment) => rows.#take(segment, repeated, newer));
    return rows;
  }

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  isLive(segment: number, index: number): boolean {
    return this.#dead.get(segment)?.[index] !== 1;
  }

  #take({ number, keys, deletes }: Segment, repeated: RepeatedKeys, newer: Set<string>): void {
    let dead: Uint8Array | undefined;
    this.#count += keys.length;
    for (const [index, key] of keys.entries()) {
      if (!repeated.mayHold(key)) continue;
      if (newer.has(key)) {
        dead ??= new Uint8Array(keys.length);
        dead[index] = 1;
        this.#count--;
      } else newer.add(key);
    }
    // A segment's deletes count before its own records.
    for (const key of deletes) if (repeated.mayHold(key)) newer.add(key);
    if (dead) this.#dead.set(number, dead);
  }
}

/** The most keys that the sets of bits are made for, of 2 MB each. */
const MANY_KEYS = 2 ** 20;

/** One key in so many is looked at again in vain. */
const BITS_PER_KEY = 16;

/** The keys that were noted more than once, and a few others by accident. */
class RepeatedKeys {
  readonly #once: Uint8Array;
  readonly #again: Uint8Array;
  readonly #mask: number;

  constructor(keys: number) {
    const bits = BITS_PER_KEY * 2 ** Math.ceil(Math.log2(Math.min(Math.max(keys, 1), MANY_KEYS)));
    this.#once = new Uint8Array(bits / 8);
    this.#again = new Uint8Array(bits / 8);
    this.#mask = bits - 1;
  }

  note(key: string): void {
    const bit = hash(key) & this.#mask;
    const byte = bit >>> 3;
    const mask = 1 << (bit & 7);
    if (((this.#once[byte] as number) & mask) === 0)
      this.#once[byte] = (this.#once[byte] as number) | mask;
    else this.#again[byte] = (this.#again[byte] as number) | mask;
  }

  mayHold(key: string): boolean {
    const bit = hash(key) & this.#mask;
    return ((this.#again[bit >>> 3] as number) & (1 << (bit & 7))) !== 0;
  }
}

/** FNV-1a (Fowler, Noll, Vo), folded so that the lowest bits are as good as any. */
function hash(key: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    value = Math.imul(value ^ key.charCodeAt(index), 0x01000193);
  }
  return value ^ (value >>> 16);
}
