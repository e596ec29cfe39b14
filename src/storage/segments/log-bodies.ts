import type { Body } from '../../codec/body.ts';
import type { GetItem, Storage } from '../drivers/driver.ts';
import { isBodyIntact } from '../integrity/body-checks.ts';
import { segmentLost } from './lost-data.ts';
import type { WholeSegment } from './merge-segments.ts';
import { SEGMENT_SIZE, type Segment, type SegmentBodies } from './segment.ts';
import type { BodiesPlace, SegmentPool } from './segment-pool.ts';
import type { Written } from './segment-writer.ts';

/**
 * Size of the written segments that are kept for the next compaction: it merges small ones once
 * they fill a segment.
 */
const KEPT_SIZE = 2 * SEGMENT_SIZE;

/** Loads the encoded documents of a collection's segments, from memory or storage. */
export class LogBodies {
  readonly #collection: string;
  readonly #storage: Storage;
  readonly #getItem: GetItem | undefined;
  readonly #pool: SegmentPool;
  /** The number of this log in the pool. */
  readonly #log: number;
  readonly #caching: boolean;
  /**
   * By number, where the encoded documents of each segment are that was read or written, until it
   * is deleted.
   */
  readonly #places = new Map<number, BodiesPlace>();
  /** By number, the newest small segments that were written here, oldest first. */
  readonly #written = new Map<number, WholeSegment>();
  #writtenSize = 0;

  /**
   * @param caching Whether the collection itself caches encoded documents, so that the pool need
   *   not.
   */
  constructor(collection: string, storage: Storage, pool: SegmentPool, caching: boolean) {
    this.#collection = collection;
    this.#storage = storage;
    this.#getItem = storage.getItem;
    this.#pool = pool;
    this.#log = pool.newLog();
    this.#caching = caching;
  }

  /** Must be called with each segment that is read. */
  note({ number, size, checks, bodies }: Segment): void {
    const inline = bodies !== undefined;
    const [log, collection] = [this.#log, this.#collection];
    this.#places.set(number, { log, collection, number, size, checks, inline });
  }

  /** Must be called with segments that are stored. */
  noteWritten(written: readonly Written[]): void {
    for (const { segment, bodies } of written) {
      this.note(segment);
      if (segment.bodies) this.#keepWritten({ segment, bodies: bodies.bodies });
      if (!this.#caching) this.#pool.keep(this.#log, bodies);
    }
  }

  /** @throws {StorageError} `data_damaged` when the encoded documents of a segment are missing. */
  async check(numbers: Iterable<number>): Promise<void> {
    const keys = await this.#storage.keys('bodies', [this.#collection]);
    const stored = new Set(keys.map(([, number]) => number));
    for (const number of numbers) {
      if (this.#places.get(number)?.inline === false && !stored.has(number))
        throw segmentLost(this.#collection, number);
    }
  }

  /** Loads the encoded documents of a segment. */
  load(number: number): Promise<SegmentBodies> {
    const found = this.peek(number);
    if (found) return Promise.resolve(found);
    const place = this.#places.get(number);
    return place ? this.#pool.load(place) : Promise.reject(segmentLost(this.#collection, number));
  }

  /** Whether storage reads one encoded document without the others of its segment. */
  get readsItems(): boolean {
    return this.#getItem !== undefined;
  }

  /**
   * Loads one encoded document; `undefined` where storage has none, or a damaged one, or cannot
   * read it by itself.
   */
  async loadItem(number: number, index: number): Promise<Body | undefined> {
    const place = this.#places.get(number);
    const store = place?.inline ? 'segments' : 'bodies';
    const item = await this.#getItem?.(store, [this.#collection, number], 'bodies', index);
    return isBodyIntact(item, place?.checks[index]) ? item : undefined;
  }

  /** The encoded documents of a segment, if they are in memory. */
  peek(number: number): SegmentBodies | undefined {
    return this.#pool.peek(this.#log, number);
  }

  /** Drops encoded documents from the pool: their records are cached. */
  release(number: number): void {
    this.#pool.forget(this.#log, number);
  }

  /** A segment that was written lately, so that compaction need not read it. */
  written(number: number): WholeSegment | undefined {
    return this.#written.get(number);
  }

  /** Must be called with each segment that a compaction has replaced. */
  merged(number: number): void {
    this.release(number);
    this.#dropWritten(number);
  }

  /** Forgets deleted segments. */
  forget(numbers: Iterable<number>): void {
    for (const number of numbers) {
      this.#places.delete(number);
      this.merged(number);
    }
  }

  #keepWritten(whole: WholeSegment): void {
    const { number, size } = whole.segment;
    this.#written.set(number, whole);
    this.#writtenSize += size;
    for (const oldest of this.#written.keys()) {
      if (this.#writtenSize <= KEPT_SIZE) break;
      this.#dropWritten(oldest);
    }
  }

  #dropWritten(number: number): void {
    this.#writtenSize -= this.#written.get(number)?.segment.size ?? 0;
    this.#written.delete(number);
  }
}
