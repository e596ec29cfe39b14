import { inMicrotask } from '../../async/in-microtask.ts';
import type { Storage, StoreName } from '../drivers/driver.ts';
import { intactBodies } from '../integrity/body-checks.ts';
import { segmentLost } from './lost-data.ts';
import type { SegmentBodies } from './segment.ts';

/** Bytes of encoded documents in the pool of a database. */
const POOL_SIZE = 16 * 1024 * 1024;

/** Where the encoded documents of a segment are stored. */
export interface BodiesPlace {
  /** The number of its log in the pool. */
  readonly log: number;
  readonly collection: string;
  readonly number: number;
  /** Rough size in bytes. */
  readonly size: number;
  /** Their checksums. */
  readonly checks: Uint32Array;
  /** Whether they are inline in the segment. */
  readonly inline: boolean;
}

interface Wanted extends BodiesPlace {
  readonly resolve: (bodies: SegmentBodies) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An LRU cache of the encoded documents of segments, shared by the collections of a database;
 * cached ones need it only until their records have them. All loads of one microtask share a
 * transaction.
 *
 * Entries are those of a log and not of a name: a collection that takes the name of one that was
 * dropped or renamed may use the same segment numbers.
 */
export class SegmentPool {
  readonly #storage: Storage;
  /** In order of use, the least recently used first. */
  readonly #entries = new Map<string, SegmentBodies>();
  readonly #loading = new Map<string, Promise<SegmentBodies>>();
  #wanted: Wanted[] = [];
  #size = 0;
  #logs = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** A number for a log that is opened. */
  newLog(): number {
    return ++this.#logs;
  }

  /** The encoded documents of a segment, if they are in the pool. */
  peek(log: number, number: number): SegmentBodies | undefined {
    const id = idOf(log, number);
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  /** Reads the encoded documents of a segment. */
  load(place: BodiesPlace): Promise<SegmentBodies> {
    const id = idOf(place.log, place.number);
    let loading = this.#loading.get(id);
    if (!loading) {
      loading = new Promise<SegmentBodies>((resolve, reject) => {
        if (this.#wanted.length === 0) inMicrotask(() => this.#readWanted());
        this.#wanted.push({ ...place, resolve, reject });
      }).finally(() => this.#loading.delete(id));
      this.#loading.set(id, loading);
    }
    return loading;
  }

  /** Adds encoded documents that were read or written. */
  keep(log: number, bodies: SegmentBodies): void {
    this.forget(log, bodies.number);
    this.#entries.set(idOf(log, bodies.number), bodies);
    this.#size += bodies.size;
    for (const [id, entry] of this.#entries) {
      if (this.#size <= POOL_SIZE) break;
      this.#drop(id, entry);
    }
  }

  /** Drops the encoded documents of a segment that was deleted or whose records are cached. */
  forget(log: number, number: number): void {
    const id = idOf(log, number);
    const entry = this.#entries.get(id);
    if (entry) this.#drop(id, entry);
  }

  #drop(id: string, { size }: SegmentBodies): void {
    this.#entries.delete(id);
    this.#size -= size;
  }

  #readWanted(): void {
    const wanted = this.#wanted;
    this.#wanted = [];
    for (const inline of [true, false]) {
      const group = wanted.filter((one) => one.inline === inline);
      if (group.length > 0) void this.#read(inline ? 'segments' : 'bodies', group);
    }
  }

  async #read(store: StoreName, wanted: readonly Wanted[]): Promise<void> {
    try {
      const keys = wanted.map(({ collection, number }) => [collection, number]);
      const found = await this.#storage.getMany(store, keys);
      wanted.forEach(({ log, collection, number, size, checks, resolve, reject }, index) => {
        const { bodies: stored } = (found[index] ?? {}) as Partial<SegmentBodies>;
        const bodies = intactBodies(stored, checks);
        if (!bodies) {
          reject(segmentLost(collection, number, 'has lost its documents'));
          return;
        }
        const entry = { number, size, bodies };
        this.keep(log, entry);
        resolve(entry);
      });
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}

function idOf(log: number, number: number): string {
  return `${log}:${number}`;
}
