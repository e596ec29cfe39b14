import type { StorageError } from '../errors/storage-error.ts';
import { DATABASE_ID, putDatabaseId } from '../storage/drivers/database-id.ts';
import type {
  Durability,
  StorageEvents,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../storage/drivers/driver.ts';
import { filesDamaged, filesErrorOf, levelClosed } from './files-failure.ts';
import { LevelBatch } from './level-batch.ts';
import { decodeKey, encodeKey, rangeOf } from './level-keys.ts';
import { decodeValue, ValueEncoder } from './level-values.ts';
import type { Level } from './load-level.ts';

/** Values that an iterator fetches at a time. */
const FETCH_BYTES = 1024 * 1024;

/** A database in a LevelDB, for all that have it open in this process. Writes wait for each other, reads for writes. */
export class LevelDatabase {
  /** They get reports of damage. */
  readonly listeners = new Set<StorageEvents>();
  readonly #folder: string;
  readonly #openLevel: () => Promise<Level>;
  readonly #encoder = new ValueEncoder();
  /** `undefined` where opening it anew has failed. */
  #level: Level | undefined;
  /** The newest write; never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  /** Writes that are not done. */
  #waiting = 0;
  /** Reads that are not done; they never reject. */
  readonly #reads = new Set<Promise<unknown>>();
  /** Whether a write has failed: the log of LevelDB may end in a part of it, and take no more. */
  #isBroken = false;
  /** Why calls are refused. */
  #ended: StorageError | undefined;
  #ending: Promise<void> | undefined;

  /** Opens a database; a new one gets its id. */
  static async open(folder: string, openLevel: () => Promise<Level>): Promise<LevelDatabase> {
    const database = new LevelDatabase(folder, await openLevel(), openLevel);
    try {
      const [id] = await database.getMany('leadership', [DATABASE_ID]);
      if (id === undefined) await database.write([putDatabaseId()], 'relaxed');
    } catch (error) {
      await database.end();
      throw error;
    }
    return database;
  }

  private constructor(folder: string, level: Level, openLevel: () => Promise<Level>) {
    this.#folder = folder;
    this.#level = level;
    this.#openLevel = openLevel;
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
    return this.#enqueue(async () => {
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
    });
  }

  /**
   * Releases the files after the calls that have begun. Later calls reject.
   *
   * @param error Why.
   */
  end(error = levelClosed()): Promise<void> {
    this.#ended ??= error;
    this.#ending ??= this.#last.then(() => this.#close());
    return this.#ending;
  }

  async #read<T>(run: (level: Level) => Promise<T>): Promise<T> {
    if (this.#waiting > 0) await this.#last;
    if (!this.#level && !this.#ended) await this.#enqueue(async () => void (await this.#usable()));
    if (this.#ended) throw this.#ended;
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
      throw filesErrorOf(error, 'reading', this.#folder);
    }
  }

  #decode(bytes: Uint8Array, store: StoreName, key: StorageKey): object | undefined {
    const value = decodeValue(bytes);
    if (!value) {
      const error = filesDamaged(this.#folder, `the value ${JSON.stringify(key)} of "${store}"`);
      for (const { damaged } of this.listeners) damaged(error);
    }
    return value;
  }

  #enqueue(run: () => Promise<void>): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#waiting++;
    const begin = async () => {
      try {
        await run();
      } catch (error) {
        throw filesErrorOf(error, 'writing', this.#folder);
      } finally {
        this.#waiting--;
      }
    };
    const done = this.#last.then(begin);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** The LevelDB, opened anew after a failed write: that drops the part of the write that its log has. */
  async #usable(): Promise<Level> {
    if (this.#isBroken || !this.#level) {
      await this.#close();
      this.#level = await this.#openLevel();
      this.#isBroken = false;
    }
    return this.#level;
  }

  async #close(): Promise<void> {
    await Promise.all(this.#reads);
    try {
      await this.#level?.close();
    } catch (error) {
      throw filesErrorOf(error, 'closing', this.#folder);
    }
    this.#level = undefined;
  }
}
