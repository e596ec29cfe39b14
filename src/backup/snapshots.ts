import { BackupError } from '../errors/backup-error.ts';
import type { Storage, StorageOperation, StoragePut } from '../storage/drivers/driver.ts';
import type { Snapshot } from './snapshot.ts';

/** More backups than a collection ever has. */
const ALL = 100_000;

/** The snapshots of a collection, read on first use: opening needs none. */
export class Snapshots {
  readonly #storage: Storage;
  readonly #collection: string;
  #taken = 0;
  /** Sequence numbers of failed writes. Their snapshots may be stored nevertheless, and are ignored. */
  readonly #failed = new Set<number>();
  #list: Promise<readonly Snapshot[]> | undefined;

  constructor(storage: Storage, collection: string) {
    this.#storage = storage;
    this.#collection = collection;
  }

  /** All of them, oldest first. */
  list(): Promise<readonly Snapshot[]> {
    this.#list ??= this.#read();
    return this.#list;
  }

  /** @throws {BackupError} `backup_unknown` */
  async find(name: string): Promise<Snapshot> {
    const snapshots = await this.list();
    const found = snapshots.find((snapshot) => snapshot.name === name);
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
    const stored = (await this.list()).at(-1)?.sequence ?? 0;
    this.#taken = Math.max(this.#taken, stored) + 1;
    return this.#taken;
  }

  /**
   * Runs a write that adds or removes snapshots, then discards the cached list: a failed write may have taken effect,
   * and garbage collection must not use an older list.
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
    this.#list = undefined;
  }

  async #read(): Promise<readonly Snapshot[]> {
    try {
      const range = { prefix: [this.#collection], limit: ALL };
      const stored = (await this.#storage.list('snapshots', range)) as Snapshot[];
      return stored.filter(({ sequence }) => !this.#failed.has(sequence));
    } catch (error) {
      this.forget();
      throw error;
    }
  }
}

export function putSnapshot(snapshot: Snapshot): StoragePut {
  return { type: 'put', store: 'snapshots', key: keyOf(snapshot), value: snapshot };
}

export function deleteSnapshot(snapshot: Snapshot): StorageOperation {
  return { type: 'delete', store: 'snapshots', key: keyOf(snapshot) };
}

function keyOf({ collection, sequence }: Snapshot): [string, number] {
  return [collection, sequence];
}
