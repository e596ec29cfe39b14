import type {
  Storage,
  StorageKey,
  StorageOperation,
  StoragePut,
} from '../storage/drivers/driver.ts';
import { isIntact, seal } from '../storage/integrity/seal.ts';
import type { UndoablePut } from '../storage/log/log-writes.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The names of all backups of a collection, beside them: without it the loss of one would go
 * unnoticed.
 */
interface Catalog {
  readonly names: readonly string[];
}

/** A backup that is missing from storage, or damaged there. */
export interface LostSnapshot {
  readonly name: string;
  /** Its key in storage; `undefined` where it is missing. */
  readonly key: StorageKey | undefined;
  /** The segments that it seems to reference. They stay until it is deleted. */
  readonly segments: readonly number[];
}

/** The snapshots of a collection, as they are in storage. */
export interface StoredSnapshots {
  /** Oldest first. */
  readonly whole: readonly Snapshot[];
  readonly lost: readonly LostSnapshot[];
}

export async function readSnapshots(
  storage: Storage,
  collection: string,
): Promise<StoredSnapshots> {
  const keys = await storage.keys('snapshots', [collection]);
  const values = await storage.getMany('snapshots', keys);
  const whole: Snapshot[] = [];
  const damaged: [key: StorageKey, value: unknown][] = [];
  let names: readonly string[] = [];
  for (const [index, key] of keys.entries()) {
    const value = values[index];
    if (typeof key[1] === 'string') {
      const catalog = value as Catalog | undefined;
      if (isIntact(key, catalog)) names = catalog.names;
    } else if (isIntact(key, value as Snapshot | undefined)) whole.push(value as Snapshot);
    else damaged.push([key, value]);
  }
  const there = damaged.map(([key, value]): LostSnapshot => {
    const [, sequence] = key;
    const name = names.find((one) => one.endsWith(`_${sequence}`)) ?? `number ${sequence}`;
    return { name, key, segments: segmentsOf(value) };
  });
  const found = new Set([...whole, ...there].map(({ name }) => name));
  const missing = names.filter((name) => !found.has(name));
  const lost = [...there, ...missing.map((name) => ({ name, key: undefined, segments: [] }))];
  return { whole, lost };
}

/** Whether a value of the store is a snapshot as it was stored. */
export function isSnapshot(value: unknown): value is Snapshot {
  const { collection = '', sequence = 0 } = (value ?? {}) as Partial<Snapshot>;
  return isIntact([collection, sequence], value as Snapshot | undefined);
}

/** Adds a snapshot to those there are. */
export function addSnapshot(stored: StoredSnapshots, snapshot: Snapshot): UndoablePut[] {
  const { collection } = snapshot;
  const names = namesOf(stored);
  const key = keyOf(snapshot);
  return [
    { put: putSnapshot(snapshot), undo: { type: 'delete', store: 'snapshots', key } },
    { put: putCatalog(collection, [...names, snapshot.name]), undo: putCatalog(collection, names) },
  ];
}

/** Stores the snapshots of a collection that has no others. */
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

function segmentsOf(value: unknown): readonly number[] {
  const { segments } = (value ?? {}) as Partial<Snapshot>;
  return Array.isArray(segments) ? segments : [];
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
  const value: Catalog = { names };
  return { type: 'put', store: 'snapshots', key, value: seal(key, value) };
}

function keyOf({ collection, sequence }: Snapshot): StorageKey {
  return [collection, sequence];
}
