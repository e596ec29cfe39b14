import { isPromise } from '../codec/kinds.ts';
import { OptionError, StorageError } from '../errors/errors.ts';
import { databaseDestroyed } from '../storage/drivers/database-id.ts';
import type { Storage, StorageDriver, StorageEvents } from '../storage/drivers/driver.ts';
import { SharedOpenings } from '../storage/drivers/shared-database.ts';
import { deleteStatements, SqliteDatabase, sqliteErrorOf, TABLES } from './sqlite-database.ts';

/** What a parameter of a statement is. */
export type SqliteValue = string | number | Uint8Array;

/** A statement, with a value for each `?`. */
export interface SqliteStatement {
  readonly sql: string;
  readonly params: readonly SqliteValue[];
}

/**
 * What Cairn needs of an SQLite, which may be in this thread or behind a bridge: each function may
 * return its result or a promise of it.
 */
export interface SqliteDriver {
  /** Runs a statement that returns no rows. */
  run(sql: string, params: readonly SqliteValue[]): unknown;
  /** The rows of a query, as objects by the names of the columns. */
  all(sql: string, params: readonly SqliteValue[]): readonly object[] | Promise<readonly object[]>;
  /** Runs the statements in one transaction, in order: all, or none if one of them fails. */
  transaction(statements: readonly SqliteStatement[]): unknown;
}

/** The databases in one SQLite. */
class SqliteStorage implements StorageDriver {
  readonly kind = 'sqlite';
  readonly #driver: SqliteDriver;
  readonly #openings = new SharedOpenings<SqliteDatabase>();
  #tables: Promise<void> | undefined;

  constructor(driver: SqliteDriver) {
    this.#driver = answering(driver);
  }

  open(name: string, events: StorageEvents): Promise<Storage> {
    return this.#openings.opened(name, events, async () => {
      await this.#makeTables();
      return SqliteDatabase.open(this.#driver, name);
    });
  }

  has(name: string): Promise<boolean> {
    return this.#openings.alone(name, async () => {
      await this.#makeTables();
      return SqliteDatabase.has(this.#driver, name);
    });
  }

  delete(name: string): Promise<void> {
    return this.#openings.delete(name, databaseDestroyed(name), async () => {
      await this.#makeTables();
      try {
        await this.#driver.transaction(deleteStatements(name));
      } catch (error) {
        throw sqliteErrorOf(error, `deleting "${name}"`);
      }
    });
  }

  #makeTables(): Promise<void> {
    this.#tables ??= (async () => {
      try {
        for (const sql of TABLES) await this.#driver.run(sql, []);
      } catch (error) {
        this.#tables = undefined;
        throw sqliteErrorOf(error, 'opening');
      }
    })();
    return this.#tables;
  }
}

/** How long a bridge may take for an answer, in milliseconds. */
const LONGEST_SILENCE = 60_000;

/** The driver, whose promises settle: a bridge that lost its other end may answer nothing more. */
function answering(driver: SqliteDriver): SqliteDriver {
  return {
    run: (sql, params) => orLost(driver.run(sql, params)),
    all: (sql, params) => orLost(driver.all(sql, params)),
    transaction: (statements) => orLost(driver.transaction(statements)),
  };
}

function orLost<T>(answer: T): T {
  if (!isPromise(answer)) return answer;
  const settled = new Promise((resolve, reject) => {
    const silent = setTimeout(() => {
      const message = `The SQLite driver has not answered for ${LONGEST_SILENCE / 1000} seconds, so its connection counts as lost. Open it again, then connect again.`;
      reject(new StorageError('storage_lost', message));
    }, LONGEST_SILENCE);
    answer.then(resolve, reject).finally(() => clearTimeout(silent));
  });
  return settled as T;
}

/** Clients with one driver share an engine. */
const storages = new WeakMap<SqliteDriver, StorageDriver>();

/**
 * Storage in an SQLite, for shells of native apps and programs: Capacitor, Expo, React Native,
 * Tauri, Electron, Bun, Deno, Node. All databases of Cairn are in two tables, `cairn_databases` and
 * `cairn_values`, beside those of the app.
 *
 * Calls reject with
 *
 * - `storage_lost` where the connection was lost, or has not answered for a minute,
 * - `storage_full` where the disk is full, `database_busy` where another process holds the lock,
 * - `data_damaged` where SQLite says that its file is,
 * - `format_newer` where a newer version of Cairn has written the database,
 * - `storage_failed` for any other failure, and for answers that are not those of the statement.
 *
 * A write that has failed is looked up: one that was made after all, before its answer was lost,
 * counts as made, and one that a bridge repeats later changes nothing.
 *
 * @returns the same storage for the same driver.
 * @throws {OptionError} `option_invalid` where a function is missing.
 *
 * @example
 * ```ts no-run
 * const db = new Database({ name: 'shop', storage: sqlite(driver) });
 * ```
 */
export function sqlite(driver: SqliteDriver): StorageDriver {
  for (const name of ['run', 'all', 'transaction'] as const)
    if (typeof driver?.[name] !== 'function')
      throw new OptionError(
        'option_invalid',
        `sqlite(driver) needs the functions run, all and transaction; ${name} is missing.`,
        { place: `driver.${name}` },
      );
  const storage = storages.get(driver) ?? new SqliteStorage(driver);
  storages.set(driver, storage);
  return storage;
}
