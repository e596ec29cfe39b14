import {
  DATABASE_ID,
  databaseIdOf,
  isMoved,
  MOVED_KEY,
  storageMoved,
} from './drivers/database-id.ts';
import type {
  Durability,
  GetItem,
  Storage,
  StorageCheck,
  StorageClaim,
  StorageKey,
  StorageOperation,
  StoragePut,
  StorageRange,
  StoreName,
} from './drivers/driver.ts';
import { ENCRYPTION_KEY, keyMissing } from './drivers/encryption-key.ts';
import { databaseTaken, EPOCH_KEY, epochOf } from './drivers/epoch.ts';

/**
 * A leader that has been silent for longer may have been replaced without its knowledge. Less than
 * half the time after which other tabs replace a silent leader.
 */
const SILENCE_MS = 2000;

/** Above any number of recovery records. */
const ALL = 100_000;

export interface FenceOptions {
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Whether a lock excludes other leaders, so that only a silent leader can have been replaced. */
  readonly locked: boolean;
  /** Called once, when another leader has taken over. */
  readonly taken: () => void;
}

/**
 * The storage of a leader, fenced by an epoch: a frozen page that wakes up may have been replaced
 * as leader. Each leader claims an epoch along with its first write. Segment numbers begin with the
 * epoch, so a newer leader ignores the segments that an older one appends; every other write checks
 * the epoch in its own transaction.
 *
 * An append needs no extra request. After silence the epoch is read again, behind the append: if it
 * is unchanged, the append came before a newer leader began to read. docs/decisions/017-tabs.md has
 * the reasons.
 */
export class FencedStorage implements Storage {
  readonly #storage: Storage;
  readonly #options: FenceOptions;
  readonly #claim = Math.random().toString(36).slice(2);
  #epoch: Promise<number> | undefined;
  #id: string | undefined;
  /** Whether a write that carried the claim has succeeded. */
  #claimed = false;
  #alive: number;
  #suspect: boolean;
  /** Whether this leader has resigned or was replaced. */
  #left = false;
  /** Operations in flight; they never reject. */
  readonly #inFlight = new Set<Promise<unknown>>();
  /** How often writes are held. */
  #holds = 0;
  /** Begins the writes that wait, and what waits for them. */
  #waiting: (() => void)[] = [];

  constructor(storage: Storage, options: FenceOptions) {
    this.#storage = storage;
    this.#options = options;
    this.#alive = options.elapsed();
    this.#suspect = !options.locked;
  }

  /** The epoch of this leader: one more than was stored when it began. */
  async epoch(): Promise<number> {
    this.#epoch ??= this.#stored().then((epoch) => epoch + 1);
    try {
      return await this.#epoch;
    } catch (error) {
      // The next caller tries again.
      this.#epoch = undefined;
      throw error;
    }
  }

  /** The id of the database ({@link putDatabaseId}). */
  async databaseId(): Promise<string> {
    await this.epoch();
    return this.#id as string;
  }

  /** Claims the epoch now: from then on the appends of an older leader do not count. */
  async claim(): Promise<void> {
    if (!this.#claimed) await this.write([], 'relaxed');
  }

  /** The recovery records of pages that have ended. */
  left(): Promise<unknown[]> {
    return this.list('recovery', { prefix: [], limit: ALL });
  }

  /**
   * Deletes recovery records. All their changes must be saved: then any leader has them, and no
   * check is needed.
   */
  async forget(keys: readonly StorageKey[], durability: Durability): Promise<void> {
    const deletes = keys.map(
      (key): StorageOperation => ({
        type: 'delete',
        store: 'recovery',
        key,
      }),
    );
    while (this.#holds > 0) await this.writesBegun();
    await this.#track(this.#storage.write(deletes, durability));
  }

  /**
   * Must be called when this leader resigns. No write begins from now on: the next leader claims no
   * epoch before its first write, and relies on what it has read.
   */
  leave(): void {
    this.#left = true;
  }

  /** Must be called before the leader does anything. */
  touch(): void {
    const now = this.#options.elapsed();
    if (now - this.#alive > SILENCE_MS) this.#suspect = true;
    this.#alive = now;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#track(this.#storage.getMany(store, keys));
  }

  get getItem(): GetItem | undefined {
    const getItem = this.#storage.getItem?.bind(this.#storage);
    return getItem && ((...item) => this.#track(getItem(...item)));
  }

  get valueLimit(): number | undefined {
    return this.#storage.valueLimit;
  }

  list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    return this.#track(this.#storage.list(store, range));
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    return this.#track(this.#storage.keys(store, prefix));
  }

  /** Whether an operation is in flight, or a write waits. */
  get isBusy(): boolean {
    return this.#inFlight.size > 0 || this.hasHeldWrites;
  }

  /** Whether a write waits. */
  get hasHeldWrites(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when the writes that wait have begun. */
  writesBegun(): Promise<void> {
    return new Promise((begin) => this.#waiting.push(begin));
  }

  /** Settles when all operations in flight have. */
  idle(): Promise<unknown> {
    return Promise.all(this.#inFlight);
  }

  /** No write begins until the returned function is called. */
  holdWrites(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      if (this.#holds === 0) for (const begin of this.#waiting.splice(0)) begin();
    };
  }

  #track<T>(operation: Promise<T>): Promise<T> {
    const ended = operation.then(
      () => void this.#inFlight.delete(ended),
      (error: { code?: string }) => {
        this.#inFlight.delete(ended);
        if (error.code === 'database_taken' || error.code === 'database_destroyed') this.#lose();
      },
    );
    this.#inFlight.add(ended);
    return operation;
  }

  /**
   * Writes with the claim until it has succeeded once: repeating it is harmless, so concurrent
   * writes need not wait.
   */
  async write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    const epoch = await this.epoch();
    while (this.#holds > 0) await this.writesBegun();
    if (this.#left) throw databaseTaken();
    this.touch();
    // After silence an append is checked as well: the database may have been emptied or made anew
    // meanwhile.
    const fenced = this.#claimed
      ? checked(epoch, operations, this.#suspect)
      : this.#claiming(epoch, operations);
    await this.#track(this.#storage.write(fenced, durability));
    this.#claimed = true;
    this.touch();
    if (this.#suspect) await this.#confirm(epoch);
  }

  close(): Promise<void> {
    return this.#storage.close();
  }

  async #stored(): Promise<number> {
    const keys = [EPOCH_KEY, DATABASE_ID, MOVED_KEY, ENCRYPTION_KEY];
    const [value, id, moved, keyRecord] = await this.getMany('leadership', keys);
    if (isMoved(moved)) throw storageMoved(moved);
    // Encrypted storage shows it to nobody.
    if (keyRecord) throw keyMissing();
    this.#id ??= databaseIdOf(id);
    return epochOf(value);
  }

  async #confirm(epoch: number): Promise<void> {
    const began = this.#options.elapsed();
    if ((await this.#stored()) !== epoch) {
      this.#lose();
      throw databaseTaken();
    }
    if (this.#options.locked && this.#options.elapsed() - began <= SILENCE_MS)
      this.#suspect = false;
  }

  #lose(): void {
    if (this.#left) return;
    this.#left = true;
    this.#options.taken();
  }

  *#claiming(epoch: number, operations: Iterable<StorageOperation>): Generator<StorageOperation> {
    const claim: StorageClaim = {
      type: 'claim',
      store: 'leadership',
      key: EPOCH_KEY,
      epoch,
      claim: this.#claim,
    };
    yield claim;
    yield* operations;
  }
}

/**
 * Checks the epoch before the first operation that is more than an append to one collection, or
 * before all. Of an append to several, a newer leader could have read one collection before and the
 * other after it.
 */
function* checked(
  epoch: number,
  operations: Iterable<StorageOperation>,
  always: boolean,
): Generator<StorageOperation> {
  let isChecked = false;
  let name: StorageKey[number] | undefined;
  for (const operation of operations) {
    const appendedTo = isAppend(operation) ? operation.key[0] : undefined;
    name ??= appendedTo;
    if (!isChecked && (always || appendedTo === undefined || appendedTo !== name)) {
      isChecked = true;
      const check: StorageCheck = { type: 'check', store: 'leadership', key: EPOCH_KEY, epoch };
      yield check;
    }
    yield operation;
  }
}

/**
 * Pages of a checkpoint, whose keys are longer, are no appends: a newer leader stores its own under
 * the same keys. Nor is its directory: the removal of earlier pages is in the same write.
 */
function isAppend(operation: StorageOperation): operation is StoragePut {
  const { type, store } = operation;
  if (type !== 'put') return false;
  return store === 'segments' || (store === 'bodies' && operation.key.length === 2);
}
