import { CairnError, OptionError } from '../../errors/errors.ts';
import { answerTo, backOff, codeOf, type Query } from '../postgres/sql-state.ts';
import type { Store, StoreResult, StoreRow } from '../store.ts';
import { isMappable, type MappedTable, type TableColumn, tableSql } from './table-sql.ts';
import sharedSql from './tables.sql';

/** Codes of {@link TableError}. */
export type TableErrorCode =
  | 'table_missing'
  | 'column_missing'
  /** No column alone tells the rows apart. */
  | 'key_missing'
  /** An array of elements that documents cannot hold. */
  | 'column_unsupported'
  /** The table is not as `setup()` has found it. */
  | 'table_changed';

/** A table does not fit its mapping; `place` is the table or the column. */
export class TableError extends CairnError<TableErrorCode> {
  static {
    this.prototype.name = 'TableError';
  }
}

/** A table whose rows are the documents of a collection. */
export interface TableMapping {
  /** As in SQL: `jobs`, `crm.visits`, `"My table"`. */
  readonly table: string;
  /** The column that is `_id`. Default: the primary key. */
  readonly id?: string;
  /** Columns by the names of their fields. Default: all columns, by their own names. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Options of {@link tables}. */
export interface TablesOptions {
  /** Tables by the names of their collections; others are stored as before. */
  readonly tables: Readonly<Record<string, TableMapping>>;
  /**
   * Milliseconds between two looks for changes of other programs while clients wait. Default 1000;
   * with `LISTEN` changes come at once, and this is for notifications that were lost.
   */
  readonly poll?: number;
}

/** A store whose collections are tables, see {@link tables}. */
export interface TablesStore extends Store {
  setup(): Promise<void>;
  close(): Promise<void>;
}

/** Raised where another program has changed a row, or is changing it. */
const TAKEN = 'CN001';
/** A column, table, function or type is not there any more. */
const UNDEFINED = new Set(['42703', '42P01', '42883', '42704']);

/** Of a push that meets rows of others. */
const ATTEMPTS = 12;

const BUSY: StoreResult = {
  rejected: { reason: 'Another program is changing this row.', retry: true },
};

/**
 * A store whose collections are tables of PostgreSQL that other programs read and write with SQL.
 * Their changes reach the pages, and those of the pages the tables. `setup()` makes functions and
 * triggers on the tables, and copies their rows.
 *
 * @param store Of `postgres(query)`, with the same database and search path as `query`.
 * @throws {OptionError}
 *
 * @example
 * ```ts
 * const query = (text, values) => pool.query(text, values);
 * const store = tables(postgres(query), query, { tables: { jobs: { table: 'crm.jobs' } } });
 * await store.setup();
 * const handler = createHandler({ store, authorize });
 * ```
 */
export function tables(store: Store, query: Query, options: TablesOptions): TablesStore {
  if (typeof store?.pull !== 'function') throw invalid('store', 'postgres(query)');
  if (typeof query !== 'function') throw invalid('query', 'a function');
  const { tables: mappings, poll = 1000 } = options ?? {};
  if (typeof mappings !== 'object' || mappings === null)
    throw invalid('tables', "such as { jobs: { table: 'jobs' } }");
  if (!(poll > 0 && poll < 2 ** 31)) throw invalid('poll', 'a number above 0');
  for (const [name, mapping] of Object.entries(mappings)) checkMapping(name, mapping);
  return new StoreOverTables(store, query, mappings, poll);
}

function checkMapping(name: string, mapping: TableMapping): void {
  const { table, id = 'id', fields = {}, ...others } = mapping ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new OptionError('option_unknown', `The table of "${name}" has no option "${unknown}".`, {
      place: name,
    });
  if (typeof table !== 'string' || table === '') throw invalid(name, "{ table: 'jobs' }");
  if (typeof id !== 'string') throw invalid(name, '{ id } with the name of a column');
  const isField = ([field, column]: [string, unknown]) =>
    field !== '' && field !== '_id' && typeof column === 'string';
  if (
    !Object.entries(fields).every(isField) ||
    new Set(Object.values(fields)).size < Object.keys(fields).length
  )
    throw invalid(name, '{ fields } with each column once, and without _id');
}

function invalid(place: string, what: string): OptionError {
  return new OptionError('option_invalid', `tables() needs for "${place}": ${what}.`, { place });
}

class StoreOverTables implements TablesStore {
  readonly #store: Store;
  readonly #query: Query;
  readonly #mappings: Readonly<Record<string, TableMapping>>;
  readonly #poll: number;
  /** Who waits for changes of a collection. */
  readonly #waiting = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly served?: NonNullable<Store['served']>;

  constructor(
    store: Store,
    query: Query,
    mappings: Readonly<Record<string, TableMapping>>,
    poll: number,
  ) {
    this.#store = store;
    this.#query = query;
    this.#mappings = mappings;
    this.#poll = poll;
    if (store.served) this.served = store.served.bind(store);
  }

  async setup(): Promise<void> {
    await this.#store.setup?.();
    await this.#query(sharedSql);
    for (const [name, mapping] of Object.entries(this.#mappings)) {
      const sql = tableSql(await this.#inspect(name, mapping));
      const made = await this.#answer('select md5($1::text) as answer', [sql]);
      const before = 'select mapping as answer from cairn_tables where collection = $1';
      const present = await this.#answer(before, [name]);
      // Triggers wait for all who write the table.
      if (made === present) continue;
      await this.#query(sql);
      const text = 'update cairn_tables set mapping = $2 where collection = $1';
      await this.#query(text, [name, made]);
    }
    for (const name of Object.keys(this.#mappings)) await this.#take(name);
  }

  async pull(collection: string, after: string | undefined, limit: number) {
    await this.#take(collection);
    return this.#store.pull(collection, after, limit);
  }

  async pullText(collection: string, after: string | undefined, limit: number): Promise<string> {
    await this.#take(collection);
    if (this.#store.pullText) return this.#store.pullText(collection, after, limit);
    return JSON.stringify(await this.#store.pull(collection, after, limit));
  }

  async push(collection: string, rows: readonly StoreRow[]): Promise<readonly StoreResult[]> {
    for (let attempt = 1; ; attempt++) {
      await this.#take(collection);
      try {
        return await this.#store.push(collection, rows);
      } catch (error) {
        if (codeOf(error) !== TAKEN) throw this.#named(collection, error);
        if (attempt === ATTEMPTS) return this.#pushEach(collection, rows);
      }
      // Where triggers were off, nobody has noted the change.
      if (attempt > 1) await this.#note(collection, rows);
      await backOff(attempt);
    }
  }

  async read(collection: string, ids: readonly string[]) {
    await this.#take(collection);
    return this.#store.read(collection, ids);
  }

  async watch(collection: string, after: string, signal: AbortSignal): Promise<boolean> {
    const isMapped = Object.hasOwn(this.#mappings, collection);
    if (!isMapped) return this.#store.watch(collection, after, signal);
    this.#waiting.set(collection, (this.#waiting.get(collection) ?? 0) + 1);
    this.#look();
    try {
      // First wait, then take: what is noted between the two rings.
      const ringing = this.#store.watch(collection, after, signal);
      ringing.catch(() => undefined);
      await this.#take(collection);
      return await ringing;
    } finally {
      const left = (this.#waiting.get(collection) ?? 1) - 1;
      if (left > 0) this.#waiting.set(collection, left);
      else this.#waiting.delete(collection);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
    await this.#store.close?.();
  }

  /** Copies what other programs have changed. */
  async #take(collection: string): Promise<void> {
    if (!Object.hasOwn(this.#mappings, collection)) return;
    const text = 'select cairn_take($1::text) as answer';
    try {
      while (await this.#answer(text, [collection]));
    } catch (error) {
      throw this.#named(collection, error);
    }
  }

  async #note(collection: string, rows: readonly StoreRow[]): Promise<void> {
    const text =
      'insert into cairn_noted (collection, id) select collection, id from cairn_rows ' +
      'where collection = $1 and id in (select json_array_elements_text($2::text::json))';
    const ids = rows.map(({ id }) => id).filter((id) => !/[\0\p{Cs}]/u.test(id));
    await this.#answer(text, [collection, JSON.stringify(ids)]);
  }

  /** One row that others hold must not stop all. */
  async #pushEach(collection: string, rows: readonly StoreRow[]): Promise<readonly StoreResult[]> {
    const results: StoreResult[] = [];
    for (const row of rows)
      try {
        results.push(...(await this.#store.push(collection, [row])));
      } catch (error) {
        if (codeOf(error) !== TAKEN) throw error;
        results.push(BUSY);
      }
    return results;
  }

  #look(): void {
    this.#timer ??= setTimeout(async () => {
      // The next request meets the same failure and reports it.
      for (const collection of this.#waiting.keys())
        await this.#take(collection).catch(() => undefined);
      this.#timer = undefined;
      if (this.#waiting.size > 0) this.#look();
    }, this.#poll);
  }

  async #inspect(collection: string, mapping: TableMapping): Promise<MappedTable> {
    const { table } = mapping;
    const missing = (cause?: unknown) =>
      new TableError('table_missing', `There is no table ${table}, or no right to see it.`, {
        ...{ place: table, cause },
      });
    const asked = this.#answer(INSPECT, [table, collection]).catch((error: unknown) => {
      // No name of a table.
      throw /^(?:42|0A)/.test(codeOf(error)) ? missing(error) : error;
    });
    const found = (await asked) as Inspected | null;
    if (!found) throw missing();
    const { columns, key } = found;
    const columnOf = (name: string) => {
      const column = columns.find((one) => one.name === name);
      if (column) return column;
      throw new TableError('column_missing', `The table ${table} has no column "${name}".`, {
        place: name,
      });
    };
    const idName = mapping.id ?? (key?.length === 1 ? key[0] : undefined);
    if (idName === undefined || !columnOf(idName).unique)
      throw new TableError(
        'key_missing',
        `The table ${table} has no column that alone tells rows apart: give one as id.`,
        { place: table },
      );
    const id = columnOf(idName);
    const all = columns.filter(({ name }) => name !== idName && name !== '_id');
    const fields = mapping.fields
      ? Object.entries(mapping.fields).map(([field, name]) => [field, columnOf(name)] as const)
      : all.map((column) => [column.name, column] as const);
    const other = fields.find(([, column]) => !isMappable(column));
    if (other)
      throw new TableError(
        'column_unsupported',
        `The column "${other[1].name}" of ${table} is an array that documents cannot hold: leave it out of fields.`,
        { place: other[1].name },
      );
    return { collection, suffix: found.suffix, table: found.table, id, fields };
  }

  /** What is left of the mapping is missing: somebody has changed the table. */
  #named(collection: string, error: unknown): unknown {
    if (!UNDEFINED.has(codeOf(error))) return error;
    const { table = collection } = this.#mappings[collection] ?? {};
    const why = (error as Error).message;
    return new TableError('table_changed', `${table} has changed: ${why}. Call setup() again.`, {
      ...{ place: table, cause: error },
    });
  }

  async #answer(text: string, values?: unknown[]): Promise<unknown> {
    const answer = await answerTo(this.#query, text, values);
    // A driver may be set to leave JSON as text.
    return typeof answer === 'string' && answer.startsWith('{') ? JSON.parse(answer) : answer;
  }
}

interface Inspected {
  readonly suffix: string;
  readonly table: string;
  readonly key: readonly string[] | null;
  readonly columns: readonly (TableColumn & { readonly sql: string })[];
}

const INSPECT = `select json_build_object(
  'suffix', left(md5($2::text), 12),
  'table', format('%I.%I', n.nspname, c.relname),
  'key', (select json_agg(a.attname) from pg_index i
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = c.oid and i.indisprimary),
  'columns', (select json_agg(json_build_object(
      'name', a.attname, 'quoted', quote_ident(a.attname), 'type', coalesce(b.typname, t.typname),
      'sql', format_type(a.atttypid, null), 'element', e.typname,
      'generated', a.attgenerated <> '',
      'unique', exists (select from pg_index i where i.indrelid = c.oid and i.indisunique
        and i.indpred is null and i.indnkeyatts = 1 and i.indkey[0] = a.attnum)
    ) order by a.attnum)
    from pg_attribute a join pg_type t on t.oid = a.atttypid
    left join pg_type b on b.oid = t.typbasetype
    left join pg_type e on e.oid = coalesce(b.typelem, t.typelem) and coalesce(b.typcategory, t.typcategory) = 'A'
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
) as answer
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.oid = to_regclass($1::text) and c.relkind in ('r', 'p')`;
