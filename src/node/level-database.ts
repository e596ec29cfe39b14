import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nextTurn } from '../async/next-turn.ts';
import type { StorageError } from '../errors/errors.ts';
import { DATABASE_ID, putDatabaseId } from '../storage/drivers/database-id.ts';
import type {
  Durability,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../storage/drivers/driver.ts';
import { resolveFence } from '../storage/drivers/epoch.ts';
import { SharedDatabase } from '../storage/drivers/shared-database.ts';
import { decodeValue, ValueEncoder } from '../storage/native/checked-value.ts';
import { decodeKey, encodeKey, rangeOf } from '../storage/native/key-bytes.ts';
import { filesDamaged, filesErrorOf, filesGone } from './files-failure.ts';
import { type Level, openLevel } from './load-level.ts';

/** Values that an iterator fetches at a time. */
const FETCH_BYTES = 1024 * 1024;

/** A database in a LevelDB. docs/decisions/041-files-in-node.md has the reasons. */
export class LevelDatabase extends SharedDatabase {
  readonly #folder: string;
  readonly #encoder = new ValueEncoder();
  /** `undefined` where opening it anew has failed. */
  #level: Level | undefined;
  /** The inode of its lock: another folder in this place has another one. */
  #lock: bigint | undefined;
  /** Reads that are not done; they never reject. */
  readonly #reads = new Set<Promise<unknown>>();
  /** Whether a write has failed: the log of LevelDB may end in a part of it, and take no more. */
  #isBroken = false;

  /** Opens a database; a new one gets its id. */
  static async open(folder: string, createIfMissing: boolean): Promise<LevelDatabase> {
    const database = new LevelDatabase(folder);
    try {
      await database.#openLevel(createIfMissing);
      const [id] = await database.getMany('leadership', [DATABASE_ID]);
      if (id === undefined) await database.write([putDatabaseId()], 'relaxed');
    } catch (error) {
      await database.end();
      throw error;
    }
    return database;
  }

  private constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#read(async (level) => {
      const found = await level.getMany(keys.map((key) => encodeKey(store, key)));
      return found.map((bytes, at) => bytes && this.#decode(bytes, store, keys[at] as StorageKey));
    });
  }

  list(store: StoreName, { prefix, after, limit }: StorageRange): Promise<unknown[]> {
    const { gte, lt } = rangeOf(store, prefix);
    const range = after ? { gt: encodeKey(store, after), lt } : { gte, lt };
    return this.#read(async (level) => {
      const entries = level.iterator({ ...range, limit, highWaterMarkBytes: FETCH_BYTES });
      const found = await entries.all();
      // A damaged value counts as missing.
      return found.flatMap(([key, bytes]) => this.#decode(bytes, store, decodeKey(key)) ?? []);
    });
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    return this.#read(async (level) => {
      const keys = await level.keys(rangeOf(store, prefix)).all();
      return keys.map(decodeKey);
    });
  }

  write(operations: Iterable<StorageOperation>, durability: Durability): Promise<void> {
    return this.enqueue(async () => {
      const batch = new LevelBatch(await this.#usable(), this.#encoder);
      try {
        for (const operation of operations) await batch.add(operation);
      } catch (error) {
        await batch.drop();
        throw error;
      }
      try {
        await batch.write(durability === 'strict');
      } catch (error) {
        this.#isBroken = true;
        throw error;
      }
      if (await this.#isGone()) throw this.noteDeletion(filesGone(this.#folder));
    });
  }

  async #read<T>(run: (level: Level) => Promise<T>): Promise<T> {
    await this.settled();
    if (!this.#level) {
      await this.enqueue(async () => void (await this.#usable()));
      await this.settled();
    }
    const reading = run(this.#level as Level);
    const ended = reading
      .catch(() => undefined)
      .then(() => {
        this.#reads.delete(ended);
      });
    this.#reads.add(ended);
    try {
      return await reading;
    } catch (error) {
      throw await this.errorOf(error, 'reading');
    }
  }

  #decode(bytes: Uint8Array, store: StoreName, key: StorageKey): object | undefined {
    const value = decodeValue(bytes);
    if (!value)
      this.noteDamage(filesDamaged(this.#folder, `the value ${JSON.stringify(key)} of "${store}"`));
    return value;
  }

  /**
   * The LevelDB, opened anew after a failed write: that drops the part of the write that its log
   * has.
   */
  async #usable(): Promise<Level> {
    if (this.#isBroken || !this.#level) {
      // An opening would make an empty one.
      if (await this.#isGone()) throw this.noteDeletion(filesGone(this.#folder));
      await this.release();
      await this.#openLevel(false);
      this.#isBroken = false;
    }
    return this.#level as Level;
  }

  async #openLevel(createIfMissing: boolean): Promise<void> {
    this.#level = await openLevel(this.#folder, createIfMissing);
    this.#lock = await this.#lockId();
  }

  async #lockId(): Promise<bigint> {
    return (await stat(join(this.#folder, 'LOCK'), { bigint: true })).ino;
  }

  /** Whether the folder was deleted, moved or replaced. One that cannot be read may be there. */
  async #isGone(): Promise<boolean> {
    try {
      return (await this.#lockId()) !== this.#lock;
    } catch (error) {
      return /ENOENT|ENOTDIR/.test((error as { code?: string }).code ?? '');
    }
  }

  /** A folder that is gone is not damaged. */
  protected override async errorOf(failure: unknown, doing: string): Promise<StorageError> {
    const error = filesErrorOf(failure, doing, this.#folder);
    if (error.code === 'database_destroyed' || !(await this.#isGone())) return error;
    return this.noteDeletion(filesGone(this.#folder));
  }

  protected override async release(): Promise<void> {
    await Promise.all(this.#reads);
    await this.#level?.close();
    this.#level = undefined;
  }
}

/** Bytes encoded before other tasks have a turn. */
const TURN_BYTES = 4 * 1024 * 1024;

/** The operations of one write, gathered in memory for one atomic write of LevelDB. */
class LevelBatch {
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
      const value = resolveFence(bytes && decodeValue(bytes), operation);
      if (value) await this.#add(store, operation.key, value);
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
    await nextTurn();
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
