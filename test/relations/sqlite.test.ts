import initSqlite, { type Database } from '@sqlite.org/sqlite-wasm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../src/testing/index.ts';
import { fc, runs } from '../setup/properties.ts';
import {
  NAMES,
  type Name,
  type Relation,
  relatedCollections,
  type Schema,
} from './related-collections.ts';

/**
 * SQLite as a judge: each call becomes one statement. Where it and MongoDB differ, documents and
 * conditions stay away: values of several types in one field, numbers that round in sums, and null
 * beside other values in comparisons of order.
 */

interface Row {
  readonly x: string | null;
  readonly y: string | null;
  readonly list: readonly string[];
  readonly n: number;
  readonly m: number | null;
}

type Condition = Record<string, unknown>;

interface Include {
  readonly where?: Condition;
  readonly sort?: Record<string, 1 | -1>;
  readonly limit?: number;
  readonly include?: Record<string, Include>;
}

const IDS = ['1', '2', '3', '4', '5', '6'];
const FIELDS = ['_id', 'x', 'y', 'list', 'n', 'm'] as const;

const key = fc.option(fc.constantFrom(...IDS), { freq: 6 });
const row: fc.Arbitrary<Row> = fc.record({
  x: key,
  y: key,
  list: fc.uniqueArray(fc.constantFrom(...IDS), { maxLength: 3 }),
  n: fc.integer({ min: -2, max: 3 }),
  m: fc.option(
    fc.integer({ min: -8, max: 8 }).map((eighths) => eighths / 8),
    { freq: 4 },
  ),
});

const ends = fc.constantFrom(
  ...[
    ['x', '_id'],
    ['_id', 'x'],
    ['y', 'x'],
    ['list', '_id'],
    ['_id', 'list'],
    ['list', 'list'],
  ].map(([from = '', to = '']) => ({ from, to })),
);
const relation = fc
  .record({ partner: fc.constantFrom(...NAMES), isOne: fc.boolean(), ends })
  .map(({ ends: both, ...rest }): Relation => ({ ...rest, ...both }));
const relations = fc.record({ r: relation, s: relation });
const schemas: fc.Arbitrary<Schema> = fc.record({ a: relations, b: relations, c: relations });

const plain: fc.Arbitrary<Condition> = fc.oneof(
  fc.constant({}),
  fc.integer({ min: -2, max: 3 }).map((n) => ({ n: { $gte: n } })),
  fc.integer({ min: -2, max: 3 }).map((n) => ({ n: { $ne: n } })),
  fc.constantFrom(null, ...IDS).map((x) => ({ x })),
  fc.constantFrom({ m: { $lt: 0 } }, { m: null }, { list: '2' }, { y: { $in: ['1', '2'] } }),
);
const conditions = (depth: number): fc.Arbitrary<Condition> => {
  if (depth === 0) return plain;
  const quantified = fc
    .tuple(
      fc.constantFrom('r', 's'),
      fc.constantFrom('$some', '$none', '$every'),
      conditions(depth - 1),
    )
    .map(([name, kind, own]) => ({ [name]: { [kind]: own } }));
  const inner = fc.oneof(plain, quantified);
  return fc.oneof(
    { weight: 2, arbitrary: plain },
    { weight: 3, arbitrary: quantified },
    fc.tuple(inner, inner).map((list) => ({ $or: list })),
    fc.tuple(inner, inner).map((list) => ({ $nor: list })),
  );
};

const sorts = fc.constantFrom<Record<string, 1 | -1>>({ n: 1 }, { n: -1, x: 1 }, { m: -1 });
const includes = (depth: number): fc.Arbitrary<Record<string, Include>> => {
  const include = fc.record(
    {
      where: conditions(depth),
      sort: sorts,
      limit: fc.integer({ min: 1, max: 3 }),
      ...(depth > 0 && { include: includes(depth - 1) }),
    },
    { requiredKeys: [] },
  );
  return fc.record({ r: include, s: include }, { requiredKeys: ['r'] });
};

let sqlite: Database;

beforeAll(async () => {
  const { oo1 } = await initSqlite();
  sqlite = new oo1.DB(':memory:');
  for (const name of NAMES)
    sqlite.exec(
      `CREATE TABLE ${name} (at INTEGER PRIMARY KEY, _id TEXT, x TEXT, y TEXT, list TEXT, n REAL, m REAL)`,
    );
});

afterAll(() => sqlite.close());

/** Statements for a schema; tables of outer documents are `t0`, `t1` and so on. */
class Sql {
  readonly #schema: Schema;
  #tables = 0;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** The documents of a collection as one JSON text. */
  select(name: Name, asked: Include): string {
    const table = this.#table();
    return `SELECT ${this.#list(name, table, asked, `${name} ${table}`)}`;
  }

  condition(name: Name, table: string, condition: Condition): string {
    const all = Object.entries(condition).map(([field, value]) => {
      if (field === '$or' || field === '$nor') {
        const some = (value as Condition[]).map((one) => this.condition(name, table, one));
        return field === '$or' ? `(${some.join(' OR ')})` : `NOT (${some.join(' OR ')})`;
      }
      const own = this.#schema[name][field];
      return own
        ? this.#quantified(own, table, value as Record<string, Condition>)
        : compared(`${table}.${field}`, value);
    });
    return all.length > 0 ? `(${all.join(' AND ')})` : 'TRUE';
  }

  #quantified(own: Relation, outer: string, given: Record<string, Condition>): string {
    const [[kind, inner] = ['', {}]] = Object.entries(given);
    const table = this.#table();
    const test = this.condition(own.partner, table, inner);
    const partners = `SELECT 1 FROM ${own.partner} ${table} WHERE ${joined(own, outer, table)}`;
    if (kind === '$some') return `EXISTS (${partners} AND ${test})`;
    return `NOT EXISTS (${partners} AND ${kind === '$none' ? test : `NOT ${test}`})`;
  }

  #list(name: Name, table: string, asked: Include, from: string, filter = 'TRUE'): string {
    const { where = {}, sort = {}, limit = -1 } = asked;
    const order = [...Object.entries(sort), ['at', 1] as const]
      .map(([field, direction]) => `${table}.${field} ${direction === 1 ? 'ASC' : 'DESC'}`)
      .join(', ');
    const sorted = `SELECT row_number() OVER (ORDER BY ${order}) AS place,
      ${this.#object(name, table, asked.include)} AS made
      FROM ${from} WHERE ${filter} AND ${this.condition(name, table, where)}
      ORDER BY place LIMIT ${limit}`;
    return `(SELECT json_group_array(json(made) ORDER BY place) FROM (${sorted}))`;
  }

  #object(name: Name, table: string, include: Include['include']): string {
    const fields = FIELDS.map((field) => {
      const value = `${table}.${field}`;
      return `'${field}', ${field === 'list' ? `json(${value})` : value}`;
    });
    for (const [key, asked] of Object.entries(include ?? {})) {
      const own = this.#schema[name][key] as Relation;
      const inner = this.#table();
      const list = this.#list(
        own.partner,
        inner,
        own.isOne ? { ...asked, limit: 1 } : asked,
        `${own.partner} ${inner}`,
        joined(own, table, inner),
      );
      fields.push(`'${key}', ${own.isOne ? `json_extract(${list}, '$[0]')` : `json(${list})`}`);
    }
    return `json_object(${fields.join(', ')})`;
  }

  #table(): string {
    return `t${this.#tables++}`;
  }
}

function compared(column: string, value: unknown): string {
  if (column.endsWith('.list'))
    return `${quoted(value)} IN (SELECT value FROM json_each(${column}))`;
  if (typeof value !== 'object' || value === null) return `${column} IS ${quoted(value)}`;
  const [[operator, operand] = ['', undefined]] = Object.entries(value);
  if (operator === '$in')
    return `${column} IS NOT NULL AND ${column} IN (${(operand as []).map(quoted)})`;
  if (operator === '$ne') return `${column} IS NOT ${quoted(operand)}`;
  return `(${column} ${operator === '$gte' ? '>=' : '<'} ${quoted(operand)}) IS TRUE`;
}

const quoted = (value: unknown) =>
  typeof value === 'string' ? `'${value}'` : String(value ?? 'NULL');

/** Whether two documents belong together: values in arrays count each. */
function joined({ from, to }: Relation, outer: string, inner: string): string {
  const values = (table: string, field: string) =>
    field === 'list'
      ? `SELECT value FROM json_each(${table}.list)`
      : `SELECT ${table}.${field} AS value WHERE ${table}.${field} IS NOT NULL`;
  return `EXISTS (${values(outer, from)} INTERSECT ${values(inner, to)})`;
}

async function opened(schema: Schema, rows: Record<Name, readonly Row[]>, indexes: string[]) {
  const db = await testDatabase({ auto_close: false });
  const made = relatedCollections(db, schema, { indexes });
  for (const name of NAMES) {
    sqlite.exec(`DELETE FROM ${name}`);
    for (const [at, { list, ...fields }] of rows[name].entries()) {
      const document = { _id: IDS[at] as string, ...fields, list };
      await made[name].insert(document);
      sqlite.exec({
        sql: `INSERT INTO ${name} VALUES (?, ?, ?, ?, ?, ?, ?)`,
        bind: [at, document._id, fields.x, fields.y, JSON.stringify(list), fields.n, fields.m],
      });
    }
  }
  return { db, made };
}

const contents = fc.record({
  a: fc.array(row, { maxLength: 6 }),
  b: fc.array(row, { maxLength: 6 }),
  c: fc.array(row, { maxLength: 6 }),
});
const indexed = fc.subarray(['x', 'y', 'list', 'n']);

/** Documents as SQLite has them: without fields of their own kind. */
function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name === '_id' || !name.startsWith('_'));
  return Object.fromEntries(entries.map(([name, own]) => [name, stripped(own)]));
}

test('includes and conditions on partners give what SQLite gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      schemas,
      contents,
      indexed,
      fc.record(
        {
          where: conditions(2),
          sort: sorts,
          limit: fc.integer({ min: 1, max: 4 }),
          include: includes(1),
        },
        { requiredKeys: ['where', 'include'] },
      ),
      async (schema, rows, indexes, asked) => {
        const { db, made } = await opened(schema, rows, indexes);
        const { where, ...options } = asked;
        const found = await made.a.filter(
          where as never,
          { ...options, include: withoutLimits(schema, 'a', options.include) } as never,
        );
        const expected = sqlite.selectValue(new Sql(schema).select('a', asked)) as string;
        expect(stripped(found)).toEqual(JSON.parse(expected));
        const count = `SELECT count(*) FROM a WHERE ${new Sql(schema).condition('a', 'a', where)}`;
        expect(await made.a.count(where as never)).toBe(sqlite.selectValue(count));
        await db.close();
      },
    ),
    runs(100),
  );
});

/** One partner takes no limit. */
function withoutLimits(schema: Schema, name: Name, asked: Include['include'] = {}): object {
  return Object.fromEntries(
    Object.entries(asked).map(([key, { limit, include, ...rest }]) => {
      const { isOne, partner } = schema[name][key] as Relation;
      const own = { ...rest, ...(include && { include: withoutLimits(schema, partner, include) }) };
      return [key, isOne || limit === undefined ? own : { ...own, limit }];
    }),
  );
}

/** What groups are made by, for each side: null and missing values are one group. */
const groupings = fc.constantFrom<{ id: unknown; by: string[] }>(
  { id: '$x', by: ['x'] },
  { id: null, by: [] },
  { id: { x: '$x', n: '$n' }, by: ['x', 'n'] },
  { id: '$m', by: ['m'] },
);

test('sums and counts by group, and of joined documents, are those of SQLite', async () => {
  await fc.assert(
    fc.asyncProperty(
      contents,
      indexed,
      plain,
      groupings,
      fc.boolean(),
      async (rows, indexes, where, { id, by }, isJoined) => {
        const none: Schema = { a: {}, b: {}, c: {} };
        const { db, made } = await opened(none, rows, indexes);
        const join: object[] = [
          { $lookup: { from: 'b', localField: 'x', foreignField: '_id', as: 'b' } },
          { $unwind: '$b' },
        ];
        const value = isJoined ? '$b.m' : '$m';
        const groups = (await made.a.aggregate([
          { $match: where },
          ...(isJoined ? join : []),
          {
            $group: {
              _id: id,
              count: { $sum: 1 },
              sum: { $sum: value },
              avg: { $avg: value },
              min: { $min: value },
              max: { $max: value },
            },
          },
        ] as never)) as { _id: unknown }[];
        const column = isJoined ? 'b.m' : 'a.m';
        const columns = by.map((field) => `a.${field}`);
        const expected = sqlite.selectObjects(
          `SELECT ${[...columns.map((one, at) => `${one} AS g${at}`), ''].join(', ')}
             count(*) AS count, coalesce(sum(${column}), 0) AS sum, avg(${column}) AS avg,
             min(${column}) AS min, max(${column}) AS max
           FROM a ${isJoined ? 'JOIN b ON b._id IS a.x' : ''}
           WHERE ${new Sql(none).condition('a', 'a', where)}
           ${by.length > 0 ? `GROUP BY ${columns}` : 'HAVING count(*) > 0'} ORDER BY min(a.at)`,
        );
        expect(groups.map(({ _id, ...rest }) => ({ ...keysOf(_id, by), ...rest }))).toEqual(
          expected,
        );
        await db.close();
      },
    ),
    runs(100),
  );
});

function keysOf(id: unknown, by: readonly string[]): object {
  const values = by.length > 1 ? by.map((field) => (id as Row)[field as keyof Row]) : [id];
  return Object.fromEntries(by.map((_, at) => [`g${at}`, values[at] ?? null]));
}
