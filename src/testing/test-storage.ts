import { checkOptions, integer, oneOf } from '../api/options/option-checks.ts';
import { StorageError, type StorageErrorCode } from '../errors/errors.ts';
import type { GetItem, Storage, StorageDriver, StorageEvents } from '../storage/drivers/driver.ts';
import { memoryDriver } from '../storage/drivers/memory-driver.ts';

/** A failure that {@link TestStorage.fail} injects. */
export interface StorageFault {
  /**
   * What fails: opening the database, reading from storage, or writing to it.
   * @default 'write'
   */
  on?: 'open' | 'read' | 'write' | undefined;
  /**
   * The code of the `StorageError`: `storage_full` is a full disk.
   * @default 'storage_full'
   */
  code?: StorageErrorCode | undefined;
  /** How many calls fail, from 1. If not given, all until `repair()`. */
  times?: number | undefined;
}

const CODES: Record<StorageErrorCode, string> = {
  storage_unavailable: 'Storage cannot be opened.',
  storage_full: 'There is no room left.',
  storage_lost: 'The connection was lost.',
  storage_failed: 'The call failed.',
  storage_timeout: 'Storage did not answer.',
  storage_moved: 'The data has been moved to other storage.',
  directory_unusable: 'Nothing can be stored in the directory.',
  driver_missing: 'A package that the storage needs is not installed.',
  storage_evicted: 'The browser has removed the data.',
  database_busy: 'The database is open elsewhere.',
  database_taken: 'Another tab has taken over the database.',
  database_destroyed: 'The database was deleted.',
  format_newer: 'The data was written by a newer version.',
  encryption_unavailable: 'There is no cipher here.',
  key_missing: 'The database is encrypted.',
  key_not_derived: 'There is no key.',
  key_wrong: 'The key does not open the database.',
  not_encrypted: 'The database is not encrypted.',
  data_damaged: 'Stored data is damaged.',
  data_foreign: 'The folder has files of another program.',
};

const CHECKS = {
  on: oneOf(['open', 'read', 'write'], 'write'),
  code: oneOf(Object.keys(CODES), 'storage_full'),
  times: integer(1),
};

interface ActiveFault {
  readonly on: 'open' | 'read' | 'write';
  readonly code: StorageErrorCode;
  left: number;
}

/** Storage whose failures a test decides. */
export class TestStorage implements StorageDriver {
  readonly kind: string;
  readonly #driver: StorageDriver;
  #faults: ActiveFault[] = [];
  readonly #holds = new Set<object>();
  /** Begins the writes that wait. */
  #waiting: (() => void)[] = [];
  #writes = 0;
  /** Calls of the driver under way; they never reject. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(driver: StorageDriver) {
    this.#driver = driver;
    this.kind = driver.kind;
  }

  /** How many writes have succeeded: saves, backups and compactions. */
  get writes(): number {
    return this.#writes;
  }

  /**
   * Makes calls of storage fail from now on: without options every write, as on a full disk.
   *
   * @throws {OptionError} with the option, the given value and the allowed ones.
   *
   * @example
   * ```ts
   * db.disk.fail();
   * await orders.save(); // rejects with storage_full
   * db.disk.repair();
   * await orders.save(); // saves what the failed save has kept
   * ```
   */
  fail(fault: StorageFault = {}): void {
    const { on, code, times } = checkOptions(
      fault,
      CHECKS,
      'fail(fault)',
    ) as unknown as StorageFault;
    this.#faults.push({
      on: on as ActiveFault['on'],
      code: code as StorageErrorCode,
      left: times ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Lets all calls succeed again, and writes that wait begin. */
  repair(): void {
    this.#faults = [];
    this.#holds.clear();
    this.#beginWrites();
  }

  /**
   * Lets writes wait from now on, as behind a slow disk. Reads see what was written before.
   *
   * @returns a function that lets them begin.
   */
  holdWrites(): () => void {
    const hold = {};
    this.#holds.add(hold);
    return () => {
      this.#holds.delete(hold);
      if (this.#holds.size === 0) this.#beginWrites();
    };
  }

  /**
   * The calls of the driver under way, if any. A held write is none.
   *
   * @internal
   */
  get underWay(): Promise<unknown> | undefined {
    return this.#underWay.size > 0 ? Promise.all(this.#underWay) : undefined;
  }

  async delete(name: string): Promise<void> {
    this.#check('write');
    await this.#track(this.#driver.delete?.(name) ?? Promise.resolve());
  }

  async open(name: string, events: StorageEvents): Promise<Storage> {
    this.#check('open');
    const storage = await this.#track(this.#driver.open(name, events));
    const read = async <T>(call: () => Promise<T>): Promise<T> => {
      this.#check('read');
      return this.#track(call());
    };
    const getItem = storage.getItem?.bind(storage);
    return {
      getMany: (store, keys) => read(() => storage.getMany(store, keys)),
      list: (store, range) => read(() => storage.list(store, range)),
      keys: (store, prefix) => read(() => storage.keys(store, prefix)),
      ...(getItem && {
        getItem: (...item: Parameters<GetItem>) =>
          read(() => getItem(...(item as Parameters<GetItem>))),
      }),
      write: async (operations, durability) => {
        while (this.#holds.size > 0) await new Promise<void>((begin) => this.#waiting.push(begin));
        this.#check('write');
        await this.#track(storage.write(operations, durability));
        this.#writes++;
      },
      close: () => this.#track(storage.close()),
    };
  }

  #beginWrites(): void {
    for (const begin of this.#waiting.splice(0)) begin();
  }

  /** @throws {StorageError} if a fault is injected. */
  #check(on: ActiveFault['on']): void {
    const fault = this.#faults.find((each) => each.on === on);
    if (!fault) return;
    if (--fault.left <= 0) this.#faults = this.#faults.filter((other) => other !== fault);
    const message = `${CODES[fault.code]} The test made this call fail by fail(); repair() ends that.`;
    throw new StorageError(fault.code, message);
  }

  #track<T>(call: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = call.then(
      () => this.#underWay.delete(ended),
      () => this.#underWay.delete(ended),
    );
    this.#underWay.add(ended);
    return call;
  }
}

/**
 * Storage whose failures a test decides, in memory or over another driver. Databases live as long
 * as it does: pass it to one database after the other to test a reload.
 *
 * @example
 * ```ts
 * const storage = testStorage();
 * const db = new Database({ name: 'shop', storage });
 * storage.fail({ on: 'write', code: 'storage_full', times: 1 });
 * ```
 */
export function testStorage(driver: StorageDriver = memoryDriver()): TestStorage {
  return new TestStorage(driver);
}
