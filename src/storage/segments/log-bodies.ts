import { inMicrotask } from '../../async/next-turn.ts';
import type { Body } from '../../codec/body.ts';
import type { GetItem, Storage, StoreName } from '../drivers/driver.ts';
import { intactBodies, isBodyIntact } from '../integrity/body-checks.ts';
import { segmentLost } from './lost-data.ts';
import { SEGMENT_SIZE, type Segment, type SegmentBodies, type WholeSegment } from './segment.ts';
import type { Written } from './segment-writer.ts';

/** Bytes of encoded documents in the pool of a database. */
const POOL_SIZE = 16 * 1024 * 1024;

/** Where the encoded documents of a segment are stored. */
interface BodiesPlace {
  readonly collection: string;
  readonly number: number;
  /** Rough size in bytes. */
  readonly size: number;
  /** Their checksums. */
  readonly checks: Uint32Array;
  /** Whether they are inline in the segment. */
  readonly inline: boolean;
}

interface Wanted {
  readonly place: BodiesPlace;
  readonly resolve: (bodies: SegmentBodies) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An LRU cache of the encoded documents of segments, shared by the collections of a database;
 * cached ones need it only until their records have them. All loads of one microtask share a
 * transaction.
 *
 * Entries are those of a place and not of a name and a number: a collection that takes the name of
 * one that was dropped or renamed may use the same numbers.
 */
export class SegmentPool {
  readonly #storage: Storage;
  /** In order of use, the least recently used first. */
  readonly #entries = new Map<BodiesPlace, SegmentBodies>();
  readonly #loading = new Map<BodiesPlace, Promise<SegmentBodies>>();
  #wanted: Wanted[] = [];
  #size = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The encoded documents of a segment, if they are in the pool. */
  peek(place: BodiesPlace): SegmentBodies | undefined {
    const entry = this.#entries.get(place);
    if (!entry) return undefined;
    this.#entries.delete(place);
    this.#entries.set(place, entry);
    return entry;
  }

  load(place: BodiesPlace): Promise<SegmentBodies> {
    let loading = this.#loading.get(place);
    if (!loading) {
      loading = new Promise<SegmentBodies>((resolve, reject) => {
        if (this.#wanted.length === 0) inMicrotask(() => this.#readWanted());
        this.#wanted.push({ place, resolve, reject });
      }).finally(() => this.#loading.delete(place));
      this.#loading.set(place, loading);
    }
    return loading;
  }

  /** Adds encoded documents that were read or written. */
  keep(place: BodiesPlace, bodies: SegmentBodies): void {
    this.forget(place);
    this.#entries.set(place, bodies);
    this.#size += bodies.size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= POOL_SIZE) break;
      this.forget(oldest);
    }
  }

  /** Drops the encoded documents of a segment that was deleted or whose records are cached. */
  forget(place: BodiesPlace): void {
    this.#size -= this.#entries.get(place)?.size ?? 0;
    this.#entries.delete(place);
  }

  #readWanted(): void {
    const wanted = this.#wanted;
    this.#wanted = [];
    for (const inline of [true, false]) {
      const group = wanted.filter(({ place }) => place.inline === inline);
      if (group.length > 0) void this.#read(inline ? 'segments' : 'bodies', group);
    }
  }

  async #read(store: StoreName, wanted: readonly Wanted[]): Promise<void> {
    try {
      const keys = wanted.map(({ place }) => [place.collection, place.number]);
      const found = await this.#storage.getMany(store, keys);
      wanted.forEach(({ place, resolve, reject }, index) => {
        const { collection, number, size, checks } = place;
        const { bodies: stored } = (found[index] ?? {}) as Partial<SegmentBodies>;
        const bodies = intactBodies(stored, checks);
        if (!bodies) {
          reject(segmentLost(collection, number, 'has lost its documents'));
          return;
        }
        const entry = { number, size, bodies };
        this.keep(place, entry);
        resolve(entry);
      });
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}

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
  readonly #caching: boolean;
  /** By number, where the encoded documents of each known segment are. */
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
    this.#caching = caching;
  }

  /** Must be called with each segment that is read. */
  note({ number, size, checks, bodies }: Segment): BodiesPlace {
    let place = this.#places.get(number);
    if (!place) {
      const inline = bodies !== undefined;
      place = { collection: this.#collection, number, size, checks, inline };
      this.#places.set(number, place);
    }
    return place;
  }

  /** Must be called with segments that are stored. */
  noteWritten(written: readonly Written[]): void {
    for (const { segment, bodies } of written) {
      const place = this.note(segment);
      if (segment.bodies) this.#keepWritten({ segment, bodies: bodies.bodies });
      if (!this.#caching) this.#pool.keep(place, bodies);
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

  load(number: number): Promise<SegmentBodies> {
    const place = this.#places.get(number);
    if (!place) return Promise.reject(segmentLost(this.#collection, number));
    const found = this.#pool.peek(place);
    return found ? Promise.resolve(found) : this.#pool.load(place);
  }

  /** Whether storage reads one encoded document without the others of its segment. */
  get readsItems(): boolean {
    return this.#getItem !== undefined;
  }

  /** Loads one encoded document; `undefined` where storage cannot give it by itself. */
  async loadItem(number: number, index: number): Promise<Body | undefined> {
    const place = this.#places.get(number);
    const store = place?.inline ? 'segments' : 'bodies';
    const item = await this.#getItem?.(store, [this.#collection, number], 'bodies', index);
    return isBodyIntact(item, place?.checks[index]) ? item : undefined;
  }

  /** The encoded documents of a segment, if they are in memory. */
  peek(number: number): SegmentBodies | undefined {
    const place = this.#places.get(number);
    return place && this.#pool.peek(place);
  }

  /** Drops encoded documents from the pool: their records are cached. */
  release(number: number): void {
    const place = this.#places.get(number);
    if (place) this.#pool.forget(place);
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

  forget(numbers: Iterable<number>): void {
    for (const number of numbers) {
      this.merged(number);
      this.#places.delete(number);
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
