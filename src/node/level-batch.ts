import type { StorageKey, StorageOperation, StoreName } from '../storage/drivers/driver.ts';
import { databaseTaken, epochOf, resolveClaim } from '../storage/drivers/epoch.ts';
import { nextTask } from '../storage/opfs/next-task.ts';
import { encodeKey, rangeOf } from './level-keys.ts';
import { decodeValue, type ValueEncoder } from './level-values.ts';
import type { Level } from './load-level.ts';

/** Bytes encoded before other tasks have a turn. */
const TURN_BYTES = 4 * 1024 * 1024;

/** The operations of one write, gathered in memory for one atomic write of LevelDB. */
export class LevelBatch {
  readonly #level: Level;
  readonly #encoder: ValueEncoder;
  readonly #batch: ReturnType<Level['batch']>;
  /** The keys that it puts, by which a later step of it may delete them. */
  readonly #put: Uint8Array[] = [];
  #bytes = 0;

  /** No other write may begin until it is written or dropped. */
  constructor(level: Level, encoder: ValueEncoder) {
    this.#level = level;
    this.#encoder = encoder;
    this.#batch = level.batch();
  }

  /** @throws {StorageError} `database_taken` */
  async add(operation: StorageOperation): Promise<void> {
    const { store, type } = operation;
    if (type === 'put') await this.#add(store, operation.key, operation.value);
    else if (type === 'delete') this.#batch.del(encodeKey(store, operation.key));
    else if (type === 'deletePrefix') await this.#deletePrefix(store, operation.prefix);
    else {
      const bytes = this.#level.getSync(encodeKey(store, operation.key));
      const stored = bytes && decodeValue(bytes);
      if (type === 'claim') {
        const value = resolveClaim(stored, operation);
        if (value) await this.#add(store, operation.key, value);
      } else if (epochOf(stored) !== operation.epoch) throw databaseTaken();
    }
  }

  async write(sync: boolean): Promise<void> {
    if (this.#batch.length === 0) return this.drop();
    await this.#batch.write({ sync });
  }

  async drop(): Promise<void> {
    await this.#batch.close();
  }

  async #add(store: StoreName, key: StorageKey, value: object): Promise<void> {
    const encoded = encodeKey(store, key);
    const bytes = await this.#encoder.encode(value);
    // LevelDB copies them.
    this.#batch.put(encoded, bytes);
    this.#put.push(encoded);
    this.#bytes += bytes.length;
    if (this.#bytes < TURN_BYTES) return;
    this.#bytes = 0;
    await nextTask();
  }

  async #deletePrefix(store: StoreName, prefix: StorageKey): Promise<void> {
    const range = rangeOf(store, prefix);
    for (const key of await this.#level.keys(range).all()) this.#batch.del(key);
    for (const key of this.#put) if (startsWith(key, range.gte)) this.#batch.del(key);
  }
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return prefix.every((byte, at) => bytes[at] === byte);
}
