import {
  STORE_NAMES,
  type StorageDriver,
  type StorageKey,
  type StoreName,
} from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import type { Segment } from '../../src/storage/segments/segment.ts';

/** The name of the databases that test clients open. */
const NAME = 'test';

/** The content of a database: values by key, for each store. */
export type Stored = Readonly<Record<StoreName, readonly (readonly [StorageKey, any])[]>>;

export async function readStored(driver: StorageDriver): Promise<Stored> {
  const storage = await driver.open(NAME, { damaged: () => undefined });
  const stores = STORE_NAMES.map(async (store) => {
    const keys = await storage.keys(store, []);
    const values = await storage.getMany(store, keys);
    return [store, keys.map((key, index) => [key, values[index]])];
  });
  return Object.fromEntries(await Promise.all(stores)) as Stored;
}

/** A driver with this content. */
export async function driverWith(stored: Stored): Promise<StorageDriver> {
  const driver = memoryDriver();
  const storage = await driver.open(NAME, { damaged: () => undefined });
  const puts = STORE_NAMES.flatMap((store) =>
    stored[store].map(([key, value]) => ({ type: 'put' as const, store, key, value })),
  );
  await storage.write(puts, 'relaxed');
  return driver;
}

/** The content of a database, with values changed or, for `undefined`, removed. */
export function tampered(
  stored: Stored,
  store: StoreName,
  change: (value: any, key: StorageKey) => unknown,
): Stored {
  const values = stored[store]
    .map(([key, value]) => [key, change(structuredClone(value), key)] as const)
    .filter(([, value]) => value !== undefined);
  return { ...stored, [store]: values };
}

/** The number of the n-th segment of a collection in storage, counted from 1. */
export function numberAt({ segments }: Stored, place: number, name = 'things'): number {
  const numbers = segments.filter(([key]) => key[0] === name).map(([key]) => key[1] as number);
  const number = numbers[place - 1];
  if (number === undefined) throw new Error(`There is no segment ${place} of "${name}".`);
  return number;
}

/** Numbers of the stored segments, and of the referenced ones. */
export function segmentsOf(stored: Stored, name = 'things'): { there: number[]; named: number[] } {
  const there = stored.segments.filter(([key]) => key[0] === name).map(([key]) => key[1] as number);
  const named = new Set<number>();
  for (const [[collection, sequence], snapshot] of stored.snapshots) {
    // Beside the snapshots lies a list of their names.
    if (collection === name && typeof sequence === 'number')
      for (const one of snapshot.segments) named.add(one);
  }
  for (const [[collection], { segments, next }] of stored.collections) {
    if (collection !== name) continue;
    for (const one of segments) named.add(one);
    for (const one of there) if (one >= next) named.add(one);
  }
  return { there, named: [...named].sort((a, b) => a - b) };
}

/** Stored bytes: as counted by segments, and as JSON. */
export function bytesOf(stored: Stored): { counted: number; json: number } {
  const segments = stored.segments.map(([, segment]) => segment as Segment);
  const all = Object.values(stored).flat();
  return {
    counted: segments.reduce((sum, { size }) => sum + size, 0),
    json: all.reduce((sum, [key, value]) => sum + jsonOf(key).length + jsonOf(value).length, 0),
  };
}

/** Typed arrays as their items. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    ArrayBuffer.isView(part) ? [...(part as never)] : part,
  );
}
