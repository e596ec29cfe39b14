import { nextTurn } from '../async/next-turn.ts';
import { reasonOf, StorageError } from '../errors/errors.ts';
import {
  DATABASE_ID,
  databaseDestroyed,
  freshId,
  putDatabaseId,
} from '../storage/drivers/database-id.ts';
import type {
  Durability,
  StorageKey,
  StorageOperation,
  StorageRange,
  StoreName,
} from '../storage/drivers/driver.ts';
import { databaseTaken, resolveFence } from '../storage/drivers/epoch.ts';
import { SharedDatabase } from '../storage/drivers/shared-database.ts';
import { storageFull } from '../storage/drivers/storage-failure.ts';
import { decodeValue, ValueEncoder } from '../storage/native/checked-value.ts';
import { decodeKey, encodeKey, rangeOf } from '../storage/native/key-bytes.ts';

/** As in the public `SqliteDriver`, which checks it. */
interface Driver {
  all(sql: string, params: readonly Value[]): readonly object[] | Promise<readonly object[]>;
  transaction(statements: readonly Statement[]): unknown;
}

type Value = string | number | Uint8Array;

interface Statement {
  readonly sql: string;
  readonly params: readonly Value[];
}

/** A value in parts, as Android reads no row of over 2 MB. */
interface Row {
  readonly k: string;
  readonly part: number;
  readonly v: unknown;
}

/** Stored: they never change. */
export const TABLES = [
  'CREATE TABLE IF NOT EXISTS cairn_databases (name TEXT PRIMARY KEY, mark TEXT NOT NULL)',
  'CREATE TABLE IF NOT EXISTS cairn_values (name TEXT NOT NULL, k TEXT NOT NULL, part INTEGER NOT NULL, v BLOB NOT NULL, PRIMARY KEY (name, k, part))',
];

const MARK = 'SELECT mark FROM cairn_databases WHERE name = ?';
/** Fails if the database is gone: a mark is never null. */
const GUARD =
  'INSERT INTO cairn_databases SELECT ?, NULL WHERE NOT EXISTS (SELECT 1 FROM cairn_databases WHERE name = ?)';
/** Fails if another one has written since. */
const SET_MARK = 'UPDATE cairn_databases SET mark = CASE mark WHEN ? THEN ? END WHERE name = ?';
const ADD = 'INSERT OR IGNORE INTO cairn_databases VALUES (?, ?)';
const PUT = 'INSERT OR REPLACE INTO cairn_values VALUES (?, ?, ?, ?)';
const SOME = 'SELECT k, part, v FROM cairn_values WHERE name = ? AND k IN';
const IN_ORDER = 'ORDER BY k, part';
const BETWEEN = 'FROM cairn_values WHERE name = ? AND k >= ? AND k < ?';

const PART_BYTES = 1024 * 1024;
/** Old versions of SQLite take 999 parameters. */
const KEYS_AT_ONCE = 500;
/** Bytes encoded before other tasks have a turn. */
const TURN_BYTES = 4 * 1024 * 1024;

/** A half of a surrogate pair is no UTF-8: JSON escapes it. */
const nameOf = (database: string): string => JSON.stringify(database);

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

const bytesOf = (digits: string): Uint8Array =>
  Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** How values and keys are written. A newer format has a higher number. */
const FORMAT = 1;

/** A mark names the format; before the formats had numbers, it did not. */
const freshMark = (): string => `${FORMAT}:${freshId()}`;

/** @throws {StorageError} `format_newer` */
function checkFormat(mark: string, place: string): void {
  const format = Number(/^(\d+):/.exec(mark)?.[1] ?? FORMAT);
  if (format <= FORMAT) return;
  throw new StorageError(
    'format_newer',
    `The database "${place}" in SQLite was written by a newer version of cairndb (format ${format}): update cairndb here.`,
    { place },
  );
}

/** `undefined` where there is no database of this name: other answers are none. */
async function markOf(driver: Driver, name: string): Promise<string | undefined> {
  const rows = (await driver.all(MARK, [name])) as readonly { mark?: unknown }[];
  const isRow = (row: { mark?: unknown } | undefined) => typeof row?.mark === 'string';
  if (!Array.isArray(rows) || rows.length > 1 || !rows.every(isRow)) throw wrongAnswer();
  return rows[0]?.mark as string | undefined;
}

export function deleteStatements(database: string): Statement[] {
  const params = [nameOf(database)];
  return [
    { sql: 'DELETE FROM cairn_values WHERE name = ?', params },
    { sql: 'DELETE FROM cairn_databases WHERE name = ?', params },
  ];
}

/** The typed error for a failure of a driver. Bridges name their failures loosely. */
export function sqliteErrorOf(cause: unknown, doing: string): StorageError {
  if (cause instanceof StorageError) return cause;
  const reason = reasonOf(cause);
  const said = `SQLite failed while ${doing} (${reason}).`;
  const text = `${(cause as { code?: unknown } | undefined)?.code ?? ''} ${reason}`;
  if (/SQLITE_FULL|is full|ENOSPC|no space|quota/i.test(text)) return storageFull(said, cause);
  if (/SQLITE_(BUSY|LOCKED)|is locked/i.test(text))
    return new StorageError('database_busy', `${said} Another process has the database: end it.`, {
      cause,
    });
  if (/SQLITE_(CORRUPT|NOTADB)|malformed|not a database/i.test(text))
    return new StorageError('data_damaged', `${said} Copy its file, then restore a backup.`, {
      cause,
    });
  if (/lost|closed|not open|terminated|disconnect|connection/i.test(text))
    return new StorageError('storage_lost', `${said} Open it again, then connect again.`, {
      cause,
    });
  return new StorageError('storage_failed', said, { cause });
}

/**
 * A database in the tables of an SQLite. Each write takes the mark of the one before it and leaves
 * its own, so one that was repeated, or that another process overtook, changes nothing.
 */
export class SqliteDatabase extends SharedDatabase {
  /** Above it a value has several rows. */
  readonly valueLimit = PART_BYTES;
  readonly #driver: Driver;
  readonly #database: string;
  readonly #name: string;
  readonly #encoder = new ValueEncoder();
  #mark = '';

  static async has(driver: Driver, name: string): Promise<boolean> {
    try {
      return (await markOf(driver, nameOf(name))) !== undefined;
    } catch (error) {
      throw sqliteErrorOf(error, 'opening');
    }
  }

  /** Opens a database; a new one gets its id. */
  static async open(driver: Driver, name: string): Promise<SqliteDatabase> {
    const database = new SqliteDatabase(driver, name);
    try {
      await driver.transaction([{ sql: ADD, params: [nameOf(name), freshMark()] }]);
      await database.#giveId();
    } catch (error) {
      throw sqliteErrorOf(error, 'opening');
    }
    return database;
  }

  /** Of two processes that make the database at once, one gives the id. */
  async #giveId(): Promise<void> {
    this.#mark = (await this.#readMark()) ?? '';
    const [id] = await this.#some('leadership', [DATABASE_ID]);
    if (id !== undefined) return;
    try {
      await this.#commit(await this.#statements([putDatabaseId()]));
    } catch (error) {
      if ((error as StorageError).code !== 'database_taken') throw error;
      await this.#giveId();
    }
  }

  private constructor(driver: Driver, database: string) {
    super();
    this.#driver = driver;
    this.#database = database;
    this.#name = nameOf(database);
  }

  getMany(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    return this.#read(() => this.#some(store, keys));
  }

  list(store: StoreName, { prefix, after, limit }: StorageRange): Promise<unknown[]> {
    const { gte, lt } = rangeOf(store, prefix);
    // No key begins with another one, so this is the next one.
    const from = after ? `${hex(encodeKey(store, after))}0` : hex(gte);
    const range = [this.#name, from, hex(lt)];
    const first = `SELECT k ${BETWEEN} AND part = 0 ORDER BY k LIMIT ?`;
    return this.#read(async () => {
      const sql = `${SOME} (${first}) ${IN_ORDER}`;
      const found = await this.#values(sql, [this.#name, ...range, limit], store);
      const isAsked = (key: string) => key >= from && key < hex(lt);
      if (found.size > limit || ![...found.keys()].every(isAsked)) throw wrongAnswer();
      // A damaged value counts as missing.
      return [...found.values()].filter((value) => value !== undefined);
    });
  }

  keys(store: StoreName, prefix: StorageKey): Promise<StorageKey[]> {
    const { gte, lt } = rangeOf(store, prefix);
    return this.#read(async () => {
      const sql = `SELECT k ${BETWEEN} AND part = 0 ORDER BY k`;
      const rows = await this.#rows(sql, [this.#name, hex(gte), hex(lt)]);
      const isAsked = ({ k }: Row, at: number) =>
        k >= hex(gte) && k < hex(lt) && k !== rows[at - 1]?.k;
      if (!rows.every(isAsked)) throw wrongAnswer();
      return rows.map(({ k }) => decodeKey(bytesOf(k)));
    });
  }

  write(operations: Iterable<StorageOperation>, _durability: Durability): Promise<void> {
    return this.enqueue(async () => this.#commit(await this.#statements(operations)));
  }

  /**
   * Runs statements if nobody else has written since the last write.
   *
   * @throws {StorageError} `database_taken` if another process has: nothing here knows what.
   */
  async #commit(statements: readonly Statement[]): Promise<void> {
    if (statements.length === 0) return;
    const before = this.#mark;
    const after = freshMark();
    try {
      await this.#driver.transaction([
        this.#guard(),
        { sql: SET_MARK, params: [before, after, this.#name] },
        ...statements,
      ]);
      this.#mark = after;
    } catch (error) {
      const mark = await this.#readMark();
      if (mark === undefined) throw this.noteDeletion(databaseDestroyed(this.#database));
      this.#mark = mark;
      // The answer was lost, or is that of a repetition.
      if (mark === after) return;
      throw mark === before ? error : databaseTaken();
    }
  }

  async #statements(operations: Iterable<StorageOperation>): Promise<Statement[]> {
    const statements: Statement[] = [];
    let bytes = 0;
    for (const operation of operations) {
      bytes += await this.#add(statements, operation);
      if (bytes < TURN_BYTES) continue;
      bytes = 0;
      await nextTurn();
    }
    return statements;
  }

  /** @returns the bytes added. @throws {StorageError} `database_taken` */
  async #add(statements: Statement[], operation: StorageOperation): Promise<number> {
    const { store, type } = operation;
    const remove = (gte: string, lt: string) =>
      statements.push({ sql: `DELETE ${BETWEEN}`, params: [this.#name, gte, lt] });
    if (type === 'deletePrefix') {
      const { gte, lt } = rangeOf(store, operation.prefix);
      remove(hex(gte), hex(lt));
      return 0;
    }
    const k = hex(encodeKey(store, operation.key));
    let value: object | undefined;
    if (type === 'put') value = operation.value;
    else if (type !== 'delete') {
      const [stored] = await this.#some(store, [operation.key]);
      value = resolveFence(stored as object | undefined, operation);
      if (!value) {
        statements.push(this.#guard());
        return 0;
      }
    }
    remove(k, `${k}0`);
    if (!value) return 0;
    const bytes = await this.#encoder.encode(value);
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      // A copy: the next value is encoded into the same bytes.
      const v = bytes.slice(at, at + PART_BYTES);
      statements.push({ sql: PUT, params: [this.#name, k, at / PART_BYTES, v] });
    }
    return bytes.length;
  }

  #guard(): Statement {
    return { sql: GUARD, params: [this.#name, this.#name] };
  }

  async #some(store: StoreName, keys: readonly StorageKey[]): Promise<unknown[]> {
    const asked = keys.map((key) => hex(encodeKey(store, key)));
    const found = new Map<string, object | undefined>();
    for (let at = 0; at < asked.length; at += KEYS_AT_ONCE) {
      const some = asked.slice(at, at + KEYS_AT_ONCE);
      const sql = `${SOME} (${some.map(() => '?').join(', ')}) ${IN_ORDER}`;
      const values = await this.#values(sql, [this.#name, ...some], store);
      for (const [key, value] of values) {
        if (!some.includes(key)) throw wrongAnswer();
        found.set(key, value);
      }
    }
    return asked.map((key) => found.get(key));
  }

  /** The values that a statement finds, by their keys, in order. */
  async #values(
    sql: string,
    params: readonly Value[],
    store: StoreName,
  ): Promise<Map<string, object | undefined>> {
    const parts = new Map<string, Uint8Array[]>();
    for (const { k, part, v } of await this.#rows(sql, params)) {
      const known = parts.get(k) ?? [];
      // An answer that came twice has the first part again.
      if (part !== known.length) throw wrongAnswer();
      known.push(blobOf(v));
      parts.set(k, known);
    }
    const found = new Map<string, object | undefined>();
    for (const [key, some] of parts) found.set(key, this.#decode(joined(some), store, key));
    return found;
  }

  async #rows(sql: string, params: readonly Value[]): Promise<readonly Row[]> {
    const rows = (await this.#driver.all(sql, params)) as readonly Row[];
    const isRow = (row: Row | undefined) => typeof row?.k === 'string';
    if (!Array.isArray(rows) || !rows.every(isRow)) throw wrongAnswer();
    if (rows.some(({ k }, at) => at > 0 && k < (rows[at - 1] as Row).k)) throw wrongAnswer();
    return rows;
  }

  #decode(bytes: Uint8Array, store: StoreName, key: string): object | undefined {
    const value = decodeValue(bytes);
    if (value) return value;
    const place = JSON.stringify(decodeKey(bytesOf(key)));
    const error = new StorageError(
      'data_damaged',
      `The value ${place} of "${store}" in SQLite is damaged: restore a backup.`,
      { place: this.#database },
    );
    this.noteDamage(error);
    return undefined;
  }

  async #read<T>(run: () => Promise<T>): Promise<T> {
    await this.settled();
    try {
      return await run();
    } catch (error) {
      throw this.errorOf(error, 'reading');
    }
  }

  /** @throws {StorageError} `format_newer` */
  async #readMark(): Promise<string | undefined> {
    const mark = await markOf(this.#driver, this.#name);
    if (mark !== undefined) checkFormat(mark, this.#database);
    return mark;
  }

  protected override errorOf(cause: unknown, doing: string): StorageError {
    return sqliteErrorOf(cause, doing);
  }

  protected override async release(): Promise<void> {
    // The connection is the app's, which closes it.
  }
}

function wrongAnswer(): StorageError {
  return new StorageError(
    'storage_failed',
    'The SQLite driver did not answer with the rows of the statement. Let all() return each row once, as an object by column, to the call that asked.',
  );
}

/** Bridges give bytes as what they can carry. */
function blobOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (Array.isArray(value)) return Uint8Array.from(value);
  throw wrongAnswer();
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
