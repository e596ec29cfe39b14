import { StorageError } from '../errors/storage-error.ts';
import type { Storage, StorageKey } from './driver.ts';
import type { Segment } from './segment.ts';

/** Bytes of encoded segments that a database keeps at hand for its collections without caching. */
const POOL_SIZE = 16 * 1024 * 1024;

interface Entry {
  readonly segment: Segment;
  readonly id: string;
}

interface Wanted {
  readonly key: StorageKey;
  readonly resolve: (segment: Segment) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Segments read on demand, the least recently used dropped first, shared by the collections of a
 * database. Segments wanted in one microtask are read in one transaction.
 */
export class SegmentPool {
  readonly #storage: Storage;
  /** In order of use, the least recently used first. */
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Segment>>();
  #wanted: Wanted[] = [];
  #size = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The segment, if it is at hand. */
  peek(collection: string, number: number): Segment | undefined {
    const id = idOf(collection, number);
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry.segment;
  }

  /** The segment, read if need be. */
  load(collection: string, number: number): Promise<Segment> {
    const id = idOf(collection, number);
    let loading = this.#loading.get(id);
    if (!loading) {
      loading = new Promise<Segment>((resolve, reject) => {
        if (this.#wanted.length === 0) queueMicrotask(() => void this.#read());
        this.#wanted.push({ key: [collection, number], resolve, reject });
      }).finally(() => this.#loading.delete(id));
      this.#loading.set(id, loading);
    }
    return loading;
  }

  /** Keeps a segment that was just read or written. */
  keep(collection: string, segment: Segment): void {
    this.forget(collection, segment.number);
    const id = idOf(collection, segment.number);
    this.#entries.set(id, { segment, id });
    this.#size += segment.size;
    for (const entry of this.#entries.values()) {
      if (this.#size <= POOL_SIZE) break;
      this.#drop(entry);
    }
  }

  /** Drops a segment that no longer exists. */
  forget(collection: string, number: number): void {
    const entry = this.#entries.get(idOf(collection, number));
    if (entry) this.#drop(entry);
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.id);
    this.#size -= entry.segment.size;
  }

  async #read(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    try {
      const segments = await this.#storage.getMany(
        'segments',
        wanted.map(({ key }) => key),
      );
      wanted.forEach(({ key, resolve, reject }, index) => {
        const segment = segments[index] as Segment | undefined;
        if (segment) {
          this.keep(key[0] as string, segment);
          resolve(segment);
        } else reject(missingSegment(key));
      });
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}

function idOf(collection: string, number: number): string {
  return `${number}:${collection}`;
}

function missingSegment([collection, number]: StorageKey): StorageError {
  return new StorageError(
    'data_damaged',
    `Segment ${number} of collection "${collection}" is missing from storage: its documents cannot be read.`,
    { place: String(collection) },
  );
}
