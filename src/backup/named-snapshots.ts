import { BackupError } from '../errors/errors.ts';
import type { StorageKey, StorageOperation, StoragePut } from '../storage/drivers/driver.ts';
import { isIntact, seal } from '../storage/integrity/seal.ts';
import type { UndoablePut } from '../storage/log/log-writes.ts';
import type { Snapshot } from './snapshot.ts';
import type { Snapshots } from './snapshots.ts';
import type { LostSnapshot, SnapshotCatalog, StoredSnapshots } from './stored-snapshots.ts';

/** Finds the snapshots of a collection by their names, and numbers new ones. */
export class NamedSnapshots {
  readonly #snapshots: Snapshots;
  readonly #collection: string;
  #taken = 0;

  constructor(snapshots: Snapshots, collection: string) {
    this.#snapshots = snapshots;
    this.#collection = collection;
  }

  /** @throws {BackupError} `backup_unknown`, `backup_damaged` */
  async find(name: string): Promise<Snapshot> {
    const found = await this.findAny(name);
    if ('sequence' in found) return found;
    throw lostBackup(this.#collection, found);
  }

  /** @throws {BackupError} `backup_unknown` */
  async findAny(name: string): Promise<Snapshot | LostSnapshot> {
    const { whole: snapshots, lost } = await this.#snapshots.stored();
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

  async takeSequence(): Promise<number> {
    const { whole, lost } = await this.#snapshots.stored();
    const stored = [...whole.map(({ sequence }) => sequence), ...lost.map(sequenceOf)];
    this.#taken = Math.max(this.#taken, ...stored) + 1;
    return this.#taken;
  }
}

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

export function isSnapshot(value: unknown): value is Snapshot {
  const { collection = '', sequence = 0 } = (value ?? {}) as Partial<Snapshot>;
  return isIntact([collection, sequence], value as Snapshot | undefined);
}

export function addSnapshot(stored: StoredSnapshots, snapshot: Snapshot): UndoablePut[] {
  const { collection } = snapshot;
  const names = namesOf(stored);
  const key = keyOf(snapshot);
  return [
    { put: putSnapshot(snapshot), undo: { type: 'delete', store: 'snapshots', key } },
    { put: putCatalog(collection, [...names, snapshot.name]), undo: putCatalog(collection, names) },
  ];
}

export function putSnapshots(collection: string, { whole, lost }: StoredSnapshots): StoragePut[] {
  const catalog = putCatalog(collection, namesOf({ whole, lost }));
  return whole.length + lost.length > 0 ? [...whole.map(putSnapshot), catalog] : [];
}

/** Removes snapshots, whole or not. */
export function removeSnapshots(
  collection: string,
  stored: StoredSnapshots,
  gone: readonly (Snapshot | LostSnapshot)[],
): StorageOperation[] {
  const names = new Set(gone.map(({ name }) => name));
  const deletions = gone.flatMap((one): StorageOperation[] => {
    const key = 'sequence' in one ? keyOf(one) : one.key;
    return key ? [{ type: 'delete', store: 'snapshots', key }] : [];
  });
  const left = namesOf(stored).filter((name) => !names.has(name));
  return [...deletions, putCatalog(collection, left)];
}

function namesOf({ whole, lost }: StoredSnapshots): string[] {
  return [...whole, ...lost].map(({ name }) => name);
}

function putSnapshot(snapshot: Snapshot): StoragePut {
  const key = keyOf(snapshot);
  return { type: 'put', store: 'snapshots', key, value: seal(key, snapshot) };
}

function putCatalog(collection: string, names: readonly string[]): StoragePut {
  const key = [collection, 'names'];
  const value: SnapshotCatalog = { names };
  return { type: 'put', store: 'snapshots', key, value: seal(key, value) };
}

function keyOf({ collection, sequence }: Snapshot): StorageKey {
  return [collection, sequence];
}
