import type { StorageDriver, StorageKey, StoreName } from '../../src/index.ts';
import { STORE_NAMES } from '../../src/storage/drivers/driver.ts';

/** A value as the storage below an encrypted database has it. */
export interface RawValue {
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly value: object;
}

/** Everything that is stored of a database. */
export async function readRaw(driver: StorageDriver, name: string): Promise<RawValue[]> {
  const storage = await driver.open(name, { damaged: () => undefined });
  const all: RawValue[] = [];
  for (const store of STORE_NAMES) {
    const keys = await storage.keys(store, []);
    const values = await storage.getMany(store, keys);
    for (const [at, key] of keys.entries()) all.push({ store, key, value: values[at] as object });
  }
  await storage.close();
  return structuredClone(all);
}

/** Puts values back, or takes them away where they have none. */
export async function writeRaw(
  driver: StorageDriver,
  name: string,
  values: readonly (Omit<RawValue, 'value'> & { readonly value: object | undefined })[],
): Promise<void> {
  const storage = await driver.open(name, { damaged: () => undefined });
  await storage.write(
    values.map(({ store, key, value }) =>
      value ? { type: 'put', store, key, value } : { type: 'delete', store, key },
    ),
    'relaxed',
  );
  await storage.close();
}

export const sameKey = (a: RawValue, b: RawValue): boolean =>
  a.store === b.store && JSON.stringify(a.key) === JSON.stringify(b.key);
