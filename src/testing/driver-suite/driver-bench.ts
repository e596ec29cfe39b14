import { sameValue } from '../../codec/same-value.ts';
import type {
  Storage,
  StorageDriver,
  StorageKey,
  StorageOperation,
} from '../../storage/drivers/driver.ts';

/** One test of a storage driver. */
export interface DriverCase {
  readonly name: string;
  /** What a driver may leave out; the case is for those that have it. */
  readonly needs?: 'delete' | 'has';
  readonly run: (bench: DriverBench) => Promise<void>;
}

const SILENT = { damaged: () => undefined };

let names = 0;

/** Opens databases of a driver for one test, and closes them. */
export class DriverBench {
  readonly driver: StorageDriver;
  readonly #opened: Storage[] = [];

  constructor(driver: StorageDriver) {
    this.driver = driver;
  }

  /** A name that no earlier test has used, in this process or another. */
  newName(): string {
    return `driver suite ${++names} ${Math.random()}`;
  }

  /** Opens a database, by default a new one. */
  async open(name = this.newName()): Promise<Storage> {
    const storage = await this.driver.open(name, SILENT);
    this.#opened.push(storage);
    return storage;
  }

  async closeAll(): Promise<void> {
    for (const storage of this.#opened) await storage.close();
  }
}

export function put(key: StorageKey, value: object): StorageOperation {
  return { type: 'put', store: 'segments', key, value };
}

/** All values of the store `segments`, in the order of their keys. */
export function listAll(storage: Storage): Promise<unknown[]> {
  return storage.list('segments', { prefix: [], limit: 1000 });
}

/** @throws {Error} unless two values are deeply equal. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (!sameValue(actual, expected))
    throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}.`);
}

/** @throws {Error} unless a call rejects, with a StorageError of this code. */
export async function expectRejection(
  what: string,
  call: Promise<unknown>,
  code: string,
): Promise<void> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('nothing'),
  );
  if (error === undefined) throw new Error(`${what}: expected a rejection with ${code}, got none.`);
  // Not instanceof: the driver's errors may come from another copy of the package.
  const { name, code: given } = error as { name?: unknown; code?: unknown };
  if (name !== 'StorageError' || given !== code)
    throw new Error(`${what}: expected a StorageError with ${code}, got ${String(error)}.`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' || part === undefined ? String(part) : part,
  );
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
