import type { Storage } from '../storage/drivers/driver.ts';
import type { Snapshot } from './snapshot.ts';
import { readSnapshots, type StoredSnapshots } from './stored-snapshots.ts';

/** The snapshots of a collection, read on first use: opening needs none. */
export class Snapshots {
  readonly #storage: Storage;
  readonly #collection: string;
  /** Sequence numbers of failed writes, whose snapshots are ignored even if they are stored. */
  readonly #failed = new Set<number>();
  #read: Promise<StoredSnapshots> | undefined;
  #known: StoredSnapshots | undefined;

  constructor(storage: Storage, collection: string) {
    this.#storage = storage;
    this.#collection = collection;
  }

  /** All that are whole, oldest first. */
  async list(): Promise<readonly Snapshot[]> {
    const { whole } = await this.stored();
    return whole;
  }

  stored(): Promise<StoredSnapshots> {
    this.#read ??= this.#readAll();
    return this.#read;
  }

  /** What {@link stored} has returned; `undefined` if that may have changed since. */
  get known(): StoredSnapshots | undefined {
    return this.#known;
  }

  /** Adds or removes snapshots, and forgets the list, as a failed write may have taken effect. */
  async change<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.forget();
    }
  }

  noteFailed({ sequence }: Pick<Snapshot, 'sequence'>): void {
    this.#failed.add(sequence);
    this.forget();
  }

  forget(): void {
    this.#read = undefined;
    this.#known = undefined;
  }

  #readAll(): Promise<StoredSnapshots> {
    const reading = readSnapshots(this.#storage, this.#collection).then(({ whole, lost }) => ({
      whole: whole.filter(({ sequence }) => !this.#failed.has(sequence)),
      lost,
    }));
    reading.then(
      (stored) => {
        if (this.#read === reading) this.#known = stored;
      },
      () => this.forget(),
    );
    return reading;
  }
}

/** Keeps segments in storage until it is released, unless their collection goes. */
export class Lease {
  readonly segments: readonly number[];
  readonly release: () => void;
  /** Why the collection is gone, once the write that removes it has ended. */
  leaving: Promise<Error | undefined> | undefined;
  /** Reads what its holder has begun to read. Never rejects. */
  declare readRest?: () => Promise<void>;

  constructor(segments: readonly number[], release: () => void) {
    this.segments = segments;
    this.release = release;
  }

  /** Why a read has failed: what a drop or a rename removes is not damaged. */
  async why(error: unknown): Promise<unknown> {
    return (await this.leaving) ?? error;
  }
}

const byStorage = new WeakMap<Storage, Leases>();

/** The leases of a database. */
export function leasesOf(storage: Storage): Leases {
  const leases = byStorage.get(storage) ?? new Leases();
  byStorage.set(storage, leases);
  return leases;
}

/** Leases on segments: garbage collection keeps leased segments, also those of deleted backups. */
class Leases {
  readonly #leased = new Map<string, Set<Lease>>();

  take(collection: string, segments: readonly number[], released?: () => void): Lease {
    const leased = this.#leased.get(collection) ?? new Set();
    const lease = new Lease(segments, () => {
      leased.delete(lease);
      if (leased.size === 0 && this.#leased.get(collection) === leased)
        this.#leased.delete(collection);
      released?.();
    });
    this.#leased.set(collection, leased.add(lease));
    return lease;
  }

  *of(collection: string): Generator<number> {
    for (const { segments } of this.#leased.get(collection) ?? []) yield* segments;
  }

  /** Must be called before a write that removes a collection. */
  async readRest(collection: string): Promise<void> {
    for (const lease of this.#leased.get(collection) ?? []) await lease.readRest?.();
  }

  /**
   * Must be called with a write that removes a collection.
   *
   * @param why What reads of its segments reject with from then on.
   */
  leave(collection: string, writing: Promise<void>, why: Error): void {
    const leaving = writing.then(
      () => why,
      () => undefined,
    );
    for (const lease of this.#leased.get(collection) ?? []) lease.leaving = leaving;
  }
}
