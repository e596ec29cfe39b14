import { BackupError } from '../errors/errors.ts';
import type { Storage } from '../storage/drivers/driver.ts';
import type { Snapshot } from './snapshot.ts';
import { type LostSnapshot, readSnapshots, type StoredSnapshots } from './stored-snapshots.ts';

/** The snapshots of a collection, read on first use: opening needs none. */
export class Snapshots {
  readonly #storage: Storage;
  readonly #collection: string;
  #taken = 0;
  /**
   * Sequence numbers of failed writes. Their snapshots may be stored nevertheless, and are ignored.
   */
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

  /** Segments that are not live and must stay: backups name them, or a lease does. */
  async kept(leases: Leases): Promise<ReadonlySet<number>> {
    const { whole, lost } = await this.stored();
    const named = [...whole, ...lost].flatMap(({ segments }) => segments);
    return new Set([...named, ...leases.of(this.#collection)]);
  }

  /** @throws {BackupError} `backup_unknown`, `backup_damaged` */
  async find(name: string): Promise<Snapshot> {
    const found = await this.findAny(name);
    if ('sequence' in found) return found;
    throw lostBackup(this.#collection, found);
  }

  /** @throws {BackupError} `backup_unknown` */
  async findAny(name: string): Promise<Snapshot | LostSnapshot> {
    const { whole: snapshots, lost } = await this.stored();
    const found = [...snapshots, ...lost].find((snapshot) => snapshot.name === name);
    if (found) return found;
    const names = snapshots.map((snapshot) => snapshot.name).reverse();
    const labelled = snapshots.findLast(({ label }) => label === name);
    const meant = labelled ? `That is the label of ${labelled.name}. ` : '';
    throw new BackupError(
      'backup_unknown',
      `Collection "${this.#collection}" has no backup "${name}". ${meant}` +
        (names.length > 0 ? `There are: ${names.slice(0, 10).join(', ')}.` : 'There are none.'),
      { place: this.#collection },
    );
  }

  /** Reserves a sequence number for a new snapshot. */
  async takeSequence(): Promise<number> {
    const { whole, lost } = await this.stored();
    const stored = [...whole.map(({ sequence }) => sequence), ...lost.map(sequenceOf)];
    this.#taken = Math.max(this.#taken, ...stored) + 1;
    return this.#taken;
  }

  /**
   * Runs a write that adds or removes snapshots, then discards the cached list: a failed write may
   * have taken effect, and garbage collection must not use an older list.
   */
  async change<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } finally {
      this.forget();
    }
  }

  /** A snapshot could not be stored. */
  noteFailed({ sequence }: Pick<Snapshot, 'sequence'>): void {
    this.#failed.add(sequence);
    this.forget();
  }

  /** Discards the cached list. */
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

/** The error of a backup that is missing or damaged. */
export function lostBackup(collection: string, { name, key }: LostSnapshot): BackupError {
  const problem = key ? 'is damaged in storage (its checksum differs)' : 'is missing from storage';
  return new BackupError(
    'backup_damaged',
    `Backup "${name}" of collection "${collection}" ${problem}. The collection is as it was; verify() says which backups are whole, deleteBackup() forgets this one.`,
    { place: collection },
  );
}

function sequenceOf({ key }: LostSnapshot): number {
  return (key?.[1] ?? 0) as number;
}

/** Keeps segments in storage until it is released, unless their collection goes. */
export class Lease {
  readonly segments: readonly number[];
  readonly release: () => void;
  /** Why the collection is gone, once the write that removes it has ended. */
  leaving: Promise<Error | undefined> | undefined;

  constructor(segments: readonly number[], release: () => void) {
    this.segments = segments;
    this.release = release;
  }

  /** Why a read has failed: what a drop or a rename removes is not damaged. */
  async why(error: unknown): Promise<unknown> {
    return (await this.leaving) ?? error;
  }
}

/** Leases on segments: garbage collection keeps leased segments, also those of deleted backups. */
export class Leases {
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
