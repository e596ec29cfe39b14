import { hashText } from '../../codec/hash-text.ts';
import type { StorageOperation } from '../drivers/driver.ts';
import {
  checkpointKey,
  type HashPage,
  type IndexDirectory,
  type IndexPage,
} from './checkpoint-format.ts';
import { pageOfHash } from './checkpoint-reader.ts';

/** Entries of a page: about 50 kB. */
const PAGE = 4096;

/** Removes the pages of a generation. */
export function noPages(collection: string, generation: number): StorageOperation {
  return { type: 'deletePrefix', store: 'bodies', prefix: checkpointKey(collection, generation) };
}

/** Gathers records by the hash of their key. */
export class HashPages {
  readonly bits: number;
  readonly #hashes: Uint32Array;
  readonly #slots: Uint32Array;
  #length = 0;

  /** @param records How many are added at most. */
  constructor(records: number) {
    this.#hashes = new Uint32Array(records);
    this.#slots = new Uint32Array(records);
    this.bits = Math.max(0, Math.ceil(Math.log2(records / PAGE)));
  }

  add(key: string, slot: number): void {
    this.#hashes[this.#length] = hashText(key);
    this.#slots[this.#length++] = slot;
  }

  /** All pages, as typed arrays of their own: a view would be stored with all of its buffer. */
  pages(): HashPage[] {
    const counts = new Uint32Array(2 ** this.bits);
    for (const value of this.#hashes.subarray(0, this.#length))
      (counts[pageOfHash(value, this.bits)] as number)++;
    const pages = Array.from(counts, (count): HashPage => {
      return { hashes: new Uint32Array(count), slots: new Uint32Array(count) };
    });
    counts.fill(0);
    for (let at = 0; at < this.#length; at++) {
      const value = this.#hashes[at] as number;
      const number = pageOfHash(value, this.bits);
      const page = pages[number] as HashPage;
      const row = (counts[number] as number)++;
      page.hashes[row] = value;
      page.slots[row] = this.#slots[at] as number;
    }
    return pages;
  }
}

/** Gathers the entries of an index, in their order. */
export class IndexPages {
  readonly pages: (IndexPage | Pick<IndexPage, 'slots'>)[] = [];
  readonly #isSame: (a: unknown, b: unknown) => boolean;
  readonly #firsts: unknown[] = [];
  readonly #counts: number[] = [];
  #keys: unknown[] = [];
  #ends: number[] = [];
  #slots: number[] = [];

  constructor(isSame: (a: unknown, b: unknown) => boolean) {
    this.#isSame = isSame;
  }

  add(key: unknown, slot: number): void {
    if (this.#slots.length === PAGE) this.#end();
    const last = this.#keys.length - 1;
    this.#slots.push(slot);
    if (last >= 0 && this.#isSame(this.#keys[last], key)) this.#ends[last] = this.#slots.length;
    else {
      this.#keys.push(key);
      this.#ends.push(this.#slots.length);
    }
  }

  /** @param unkeyed The slots of records without a key. */
  finish(part: number, unkeyed: readonly number[]): IndexDirectory {
    if (this.#slots.length > 0) this.#end();
    if (unkeyed.length > 0) this.pages.push({ slots: Uint32Array.from(unkeyed) });
    const counts = Uint32Array.from(this.#counts);
    return { part, firsts: this.#firsts, counts, unkeyed: unkeyed.length };
  }

  #end(): void {
    this.#firsts.push(this.#keys[0]);
    this.#counts.push(this.#slots.length);
    this.pages.push({
      keys: this.#keys,
      ends: Uint32Array.from(this.#ends),
      slots: Uint32Array.from(this.#slots),
    });
    this.#keys = [];
    this.#ends = [];
    this.#slots = [];
  }
}
