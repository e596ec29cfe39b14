import type {
  Durability,
  Storage,
  StorageCheck,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from './drivers/driver.ts';
import { databaseTaken, epochOf } from './drivers/storage-failure.ts';

/**
 * A leader that has not been alive for this long may have been replaced without its knowing. Less than half of
 * how long others wait for a leader that is silent.
 */
const SILENCE_MS = 2000;

/** More pages than that never end without a leader. */
const ALL = 100_000;

const EPOCH: StorageKey = ['epoch'];

/** What a fence is told. */
export interface FenceOptions {
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Whether a lock keeps others from leading, so that only a leader that was silent can have been replaced. */
  readonly locked: boolean;
  /** Another leader has taken over. Called once. */
  readonly taken: () => void;
}

/** What is stored about who leads. */
interface StoredEpoch {
  readonly epoch: number;
  /** A name that no other leadership has: an epoch that was claimed by a write that failed is known again by it. */
  readonly claim: string;
}

/**
 * Storage of a leader, who may have been replaced by another without its knowing: a page that was frozen and goes
 * on. Each leader claims an epoch, along with the first that it writes. Segments carry it in their numbers, so that
 * what an older leader appends is nothing that a newer one reads; whatever else is written checks the epoch in its
 * own transaction.
 *
 * An append makes no request of its own for this: after it, and only after silence, the epoch is read again.
 * Whoever finds the epoch as it was has appended before a newer leader began to read.
 */
export class FencedStorage implements Storage {
  readonly #storage: Storage;
  readonly #options: FenceOptions;
  readonly #claim = Math.random().toString(36).slice(2);
  /** The epoch that was stored when this leader began. */
  #before: Promise<number> | undefined;
  /** `no` until something is written, `doubtful` when that failed: it may have been stored all the same. */
  #claimed: 'no' | 'doubtful' | 'yes' = 'no';
  /** The write that claims the epoch. */
  #first: Promise<void> | undefined;
  #alive: number;
  #suspect: boolean;
  /** Whether another leads, or may. */
  #left = false;

  constructor(storage: Storage, options: FenceOptions) {
    this.#storage = storage;
    this.#options = options;
    this.#alive = options.elapsed();
    this.#suspect = !options.locked;
  }

  /** The epoch of this leader. */
  async epoch(): Promise<number> {
    this.#before ??= this.#stored().then(epochOf);
    try {
      return (await this.#before) + 1;
    } catch (error) {
      // Tried again by whoever asks next.
      this.#before = undefined;
      throw error;
    }
  }

  /** Claims the epoch at once: what is read from now on, no older leader appends to unnoticed. */
  async claim(): Promise<void> {
    if (this.#claimed !== 'yes') await this.write([], 'relaxed');
  }

  /** What pages have left behind. */
  left(): Promise<unknown[]> {
    return this.#storage.list('recovery', { prefix: [], limit: ALL });
  }

  /** Removes what pages have left behind, all of which must be saved: whoever leads by now has it then. */
  forget(keys: readonly StorageKey[], durability: Durability): Promise<void> {
    const gone = keys.map((key): StorageOperation => ({ type: 'delete', store: 'recovery', key }));
    return this.#storage.write(gone, durability);
  }

  /**
   * To be called when the lead is given away. No write is begun from now on: the next leader claims no epoch before it
   * writes, and relies on what it has read.
   */
  leave(): void {
    this.#left = true;
  }

  /** To be called whenever the leader does something, before it is done. */
  touch(): void {
    const now = this.#options.elapsed();
    if (now - this.#alive > SILENCE_MS) this.#suspect = true;
    this.#alive = now;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#storage.getMany(store, keys);
  }

  list(store: StoreName, range: StorageRange): Promise<unknown[]> {
    return this.#storage.list(store, range);
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    return this.#storage.keys(store, prefix);
  }

  async write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    // Collections save at the same time, and one of them claims the epoch.
    while (this.#claimed !== 'yes' && this.#first) await this.#first.catch(() => undefined);
    if (this.#claimed === 'yes') return this.#write(operations, durability);
    this.#first = this.#write(operations, durability).finally(() => {
      this.#first = undefined;
    });
    await this.#first;
  }

  async #write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    const epoch = await this.epoch();
    if (this.#claimed === 'doubtful') await this.#resolveDoubt();
    if (this.#left) throw databaseTaken();
    this.touch();
    const claiming = this.#claimed !== 'yes';
    try {
      const all = claiming ? this.#claiming(epoch, operations) : guarded(epoch, operations);
      await this.#storage.write(all, durability);
      this.#claimed = 'yes';
      this.touch();
      if (this.#suspect) await this.#confirm(epoch);
    } catch (error) {
      if (claiming && this.#claimed !== 'yes') this.#claimed = 'doubtful';
      if ((error as { code?: string }).code === 'database_taken') this.#lose();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#storage.close();
  }

  async #stored(): Promise<StoredEpoch | undefined> {
    const [value] = await this.#storage.getMany('leadership', [EPOCH]);
    return value as StoredEpoch | undefined;
  }

  async #resolveDoubt(): Promise<void> {
    const stored = await this.#stored();
    this.#claimed = stored?.claim === this.#claim ? 'yes' : 'no';
  }

  async #confirm(epoch: number): Promise<void> {
    const began = this.#options.elapsed();
    if (epochOf(await this.#stored()) !== epoch) throw databaseTaken();
    if (this.#options.locked && this.#options.elapsed() - began <= SILENCE_MS)
      this.#suspect = false;
  }

  #lose(): void {
    if (this.#left) return;
    this.#left = true;
    this.#options.taken();
  }

  /** Claims the epoch before the first operation. */
  *#claiming(epoch: number, operations: Iterable<StorageOperation>): Generator<StorageOperation> {
    const value: StoredEpoch = { epoch, claim: this.#claim };
    yield checkOf(epoch - 1);
    yield { type: 'put', store: 'leadership', key: EPOCH, value };
    yield* operations;
  }
}

/** Checks the epoch before the first operation that is more than an append. */
function* guarded(
  epoch: number,
  operations: Iterable<StorageOperation>,
): Generator<StorageOperation> {
  let checked = false;
  for (const operation of operations) {
    if (!checked && !isAppend(operation)) {
      checked = true;
      yield checkOf(epoch);
    }
    yield operation;
  }
}

function isAppend({ type, store }: StorageOperation): boolean {
  return type === 'put' && (store === 'segments' || store === 'bodies');
}

function checkOf(epoch: number): StorageCheck {
  return { type: 'check', store: 'leadership', key: EPOCH, epoch };
}
