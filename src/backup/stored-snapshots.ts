import type { Storage, StorageKey } from '../storage/drivers/driver.ts';
import { isIntact } from '../storage/integrity/seal.ts';
import type { Snapshot } from './snapshot.ts';

/** The names of all backups of a collection: without them the loss of one goes unnoticed. */
export interface SnapshotCatalog {
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
      const catalog = value as SnapshotCatalog | undefined;
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

function segmentsOf(value: unknown): readonly number[] {
  const { segments } = (value ?? {}) as Partial<Snapshot>;
  return Array.isArray(segments) ? segments : [];
}
