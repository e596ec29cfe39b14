import initSqlite, { type Database as Sqlite } from '@sqlite.org/sqlite-wasm';
import type { SqliteDriver, SqliteStatement, SqliteValue } from '../../src/sqlite/index.ts';

/** An SQLite in memory, as a driver without promises. */
export async function openSqlite(): Promise<SqliteDriver & { readonly sqlite: Sqlite }> {
  const { oo1 } = await initSqlite();
  const sqlite = new oo1.DB(':memory:');
  const all = (sql: string, bind: readonly SqliteValue[]) =>
    sqlite.exec({
      sql,
      ...(bind.length > 0 && { bind: [...bind] }),
      rowMode: 'object',
      returnValue: 'resultRows',
    });
  return {
    sqlite,
    run: all,
    all,
    transaction: (statements) =>
      sqlite.transaction(() => {
        for (const { sql, params } of statements) all(sql, params);
      }),
  };
}

/** Turns that a message takes: from a fixed list, so that answers overtake each other. */
const TURNS = [1, 4, 2, 7, 3];

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** What a bridge does to a message, besides passing it on. */
export interface Faults {
  /** Before the statements run. */
  before?: ((sql: string) => void) | undefined;
  /** After they have run, before the answer. */
  after?: ((sql: string) => void) | undefined;
  /** What it answers with instead of these rows. */
  rows?: ((rows: readonly object[], sql: string) => unknown) | undefined;
}

/**
 * A driver as native shells have it: messages are copies that take their time, and bytes arrive as
 * lists of numbers. Statements run in the order in which they were sent.
 */
export function bridge(driver: SqliteDriver, faults: Faults = {}): SqliteDriver {
  let sent = 0;
  let last: Promise<unknown> = Promise.resolve();
  const pass = async <T>(sql: string, work: () => T): Promise<T> => {
    const { [sent++ % TURNS.length]: before = 1, [sent % TURNS.length]: after = 1 } = TURNS;
    const turn = last.then(() => turns(before));
    last = turn.then(
      () => undefined,
      () => undefined,
    );
    await turn;
    faults.before?.(sql);
    const result = work();
    faults.after?.(sql);
    await turns(after);
    return result;
  };
  const listed = (rows: readonly object[]) =>
    JSON.parse(JSON.stringify(rows, (_, v) => (v instanceof Uint8Array ? [...v] : v)));
  const copied = (statements: readonly SqliteStatement[]): SqliteStatement[] =>
    statements.map(({ sql, params }) => ({
      sql,
      params: params.map((one) => (one instanceof Uint8Array ? one.slice() : one)),
    }));
  return {
    run: (sql, params) => pass(sql, () => void driver.run(sql, params)),
    all: (sql, params) =>
      pass(sql, () => {
        const rows = listed(driver.all(sql, params) as readonly object[]);
        return (faults.rows?.(rows, sql) ?? rows) as readonly object[];
      }),
    transaction: (statements) => {
      const all = copied(statements);
      return pass(all.map(({ sql }) => sql).join(';'), () => void driver.transaction(all));
    },
  };
}
