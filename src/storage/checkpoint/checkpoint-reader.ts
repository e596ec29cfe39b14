import { firstWhere } from '../../codec/first-where.ts';
import { hashText } from '../../codec/hash-text.ts';
import type { Storage, StorageKey } from '../drivers/driver.ts';
import { isIntact } from '../integrity/seal.ts';
import {
  type Checkpoint,
  HASHES,
  type HashPage,
  type IndexDirectory,
  type IndexPage,
  pageKey,
  ROWS,
} from './checkpoint-format.ts';

/**
 * A range of keys: from where the first test holds to where the second does. Both hold from some
 * key on.
 */
export interface KeyBounds {
  readonly low: (key: unknown) => boolean;
  readonly high: (key: unknown) => boolean;
}

export interface SlotPlace {
  readonly segment: number;
  readonly row: number;
}

/** Reads pages of a checkpoint, each once. */
export class CheckpointReader {
  readonly checkpoint: Checkpoint;
  readonly #storage: Storage;
  readonly #collection: string;
  readonly #pages = new Map<string, Promise<unknown>>();
  /** Whether a page was missing or damaged. */
  isDamaged = false;

  constructor(storage: Storage, collection: string, checkpoint: Checkpoint) {
    this.#storage = storage;
    this.#collection = collection;
    this.checkpoint = checkpoint;
  }

  /**
   * The slots that may have records with these keys; `undefined` where one is missing or damaged.
   */
  async slotsOfKeys(keys: readonly string[]): Promise<Set<number> | undefined> {
    const { bits } = this.checkpoint;
    const wanted = keys.map(hashText);
    const numbers = wanted.map((value) => pageOfHash(value, bits));
    const pages = (await this.#readAll(HASHES, numbers)) as (HashPage | undefined)[];
    const slots = new Set<number>();
    for (const [at, page] of pages.entries()) {
      if (!page) return undefined;
      const { hashes } = page;
      const value = wanted[at] as number;
      for (let row = hashes.indexOf(value); row >= 0; row = hashes.indexOf(value, row + 1))
        slots.add(page.slots[row] as number);
    }
    return slots;
  }

  /**
   * The slots of an index whose keys are in some ranges, and those without a key.
   *
   * @returns `undefined` where a page is missing or damaged.
   */
  async slotsInRanges(
    index: IndexDirectory,
    ranges: readonly KeyBounds[],
  ): Promise<Set<number> | undefined> {
    const slots = new Set<number>();
    for (const bounds of ranges) {
      const { from, to } = pagesOf(index, bounds);
      const numbers = Array.from({ length: to - from }, (_, at) => from + at);
      const pages = (await this.#readAll(index.part, numbers)) as (IndexPage | undefined)[];
      for (const page of pages) {
        if (!page) return undefined;
        addSlots(page, bounds, slots);
      }
    }
    if (index.unkeyed === 0) return slots;
    const [page] = (await this.#readAll(index.part, [index.firsts.length])) as (
      | Pick<IndexPage, 'slots'>
      | undefined
    )[];
    for (const slot of page?.slots ?? []) slots.add(slot);
    return page && slots;
  }

  placeOf(slot: number): SlotPlace {
    const segment = this.checkpoint.segments[Math.floor(slot / ROWS)] as number;
    return { segment, row: slot % ROWS };
  }

  #readAll(part: number, pages: readonly number[]): Promise<unknown[]> {
    return Promise.all(pages.map((page) => this.#page(part, page)));
  }

  #page(part: number, page: number): Promise<unknown> {
    const key = pageKey(this.#collection, this.checkpoint, part, page);
    const name = `${part}/${page}`;
    const reading = this.#pages.get(name) ?? this.#read(key);
    this.#pages.set(name, reading);
    return reading;
  }

  async #read(key: StorageKey): Promise<unknown> {
    const [page] = (await this.#storage.getMany('bodies', [key])) as [object | undefined];
    if (isIntact(key, page)) return page;
    this.isDamaged = true;
    return undefined;
  }
}

export function pageOfHash(value: number, bits: number): number {
  // A shift by 32 would be none.
  return bits === 0 ? 0 : value >>> (32 - bits);
}

/** The pages that may have keys of a range. */
export function pagesOf(
  { firsts }: Pick<IndexDirectory, 'firsts'>,
  { low, high }: KeyBounds,
): { readonly from: number; readonly to: number } {
  // The page before the first that begins in the range may have keys of it.
  const from = Math.max(0, boundIn(firsts, low) - 1);
  return { from, to: Math.max(from, boundIn(firsts, high)) };
}

function addSlots({ keys, ends, slots }: IndexPage, { low, high }: KeyBounds, into: Set<number>) {
  const from = boundIn(keys, low);
  const to = boundIn(keys, high);
  const end = to > 0 ? (ends[to - 1] as number) : 0;
  for (let at = from > 0 ? (ends[from - 1] as number) : 0; at < end; at++)
    into.add(slots[at] as number);
}

function boundIn(items: readonly unknown[], holds: (item: unknown) => boolean): number {
  return firstWhere(0, items.length, (at) => holds(items[at]));
}
