import type { Body } from '../../codec/body.ts';
import type { GetItem, Storage } from '../drivers/driver.ts';
import { segmentLost } from './lost-data.ts';
import type { Segment, SegmentBodies } from './segment.ts';
import type { SegmentPool } from './segment-pool.ts';
import type { Written } from './segment-writer.ts';

/** Loads the encoded documents of a collection's segments, from memory or storage. */
export class LogBodies {
  readonly #collection: string;
  readonly #storage: Storage;
  readonly #getItem: GetItem | undefined;
  readonly #pool: SegmentPool;
  readonly #caching: boolean;
  /** By number, for every segment read or written: whether its encoded documents are inline in the segment. */
  readonly #inline = new Map<number, boolean>();
  /**
   * Encoded documents of segments that a compaction replaces, for readers that started before it: storage may no longer
   * have them. {@link LogBodies.forgetReplaced} empties it.
   */
  readonly #replaced = new Map<number, SegmentBodies>();

  /** @param caching Whether the collection itself caches encoded documents, so that the pool need not. */
  constructor(collection: string, storage: Storage, pool: SegmentPool, caching: boolean) {
    this.#collection = collection;
    this.#storage = storage;
    this.#getItem = storage.getItem;
    this.#pool = pool;
    this.#caching = caching;
  }

  /** Must be called with each segment that is read. */
  note({ number, bodies }: Segment): void {
    this.#inline.set(number, bodies !== undefined);
  }

  /** Must be called with segments that are stored. */
  noteWritten(written: readonly Written[]): void {
    for (const { segment, bodies } of written) {
      this.note(segment);
      if (!this.#caching) this.#pool.keep(this.#collection, bodies);
    }
  }

  /** @throws {StorageError} `data_damaged` when the encoded documents of a segment are missing. */
  async check(numbers: Iterable<number>): Promise<void> {
    const keys = await this.#storage.keys('bodies', [this.#collection]);
    const stored = new Set(keys.map(([, number]) => number));
    for (const number of numbers) {
      if (this.#inline.get(number) === false && !stored.has(number))
        throw segmentLost(this.#collection, number);
    }
  }

  /** Loads the encoded documents of a segment. */
  load(number: number): Promise<SegmentBodies> {
    const found = this.peek(number);
    if (found) return Promise.resolve(found);
    const inline = this.#inline.get(number) ?? false;
    return this.#pool.load({ collection: this.#collection, number, inline });
  }

  /** Whether storage reads one encoded document without the others of its segment. */
  get readsItems(): boolean {
    return this.#getItem !== undefined;
  }

  /** Loads one encoded document; `undefined` where storage has none, or cannot read it by itself. */
  async loadItem(number: number, index: number): Promise<Body | undefined> {
    const store = this.#inline.get(number) ? 'segments' : 'bodies';
    const item = await this.#getItem?.(store, [this.#collection, number], 'bodies', index);
    return item as Body | undefined;
  }

  /** The encoded documents of a segment, if they are in memory. */
  peek(number: number): SegmentBodies | undefined {
    return this.#replaced.get(number) ?? this.#pool.peek(this.#collection, number);
  }

  /** Drops encoded documents from the pool: their records are cached. */
  release(number: number): void {
    this.#pool.forget(this.#collection, number);
  }

  /** Keeps the encoded documents of a segment that compaction deletes, for its readers. */
  keepReplaced(bodies: SegmentBodies): void {
    this.#replaced.set(bodies.number, bodies);
  }

  forgetReplaced(): void {
    this.#replaced.clear();
  }

  /** Forgets deleted segments. */
  forget(numbers: Iterable<number>): void {
    for (const number of numbers) {
      this.#inline.delete(number);
      this.release(number);
    }
  }
}
