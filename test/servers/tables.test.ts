import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { http, type Remote } from '../../src/replication/index.ts';
import { remoteSuite } from '../../src/replication/testing/index.ts';
import {
  createHandler,
  type HandlerOptions,
  type Query,
  type Store,
} from '../../src/server/index.ts';
import { type TableMapping, type TablesStore, tables } from '../../src/server/tables/index.ts';
import { closeDevices, Device } from '../replication/device.ts';
import { connectionsTo, listenTo } from './connections.ts';
import { openSchema, type SchemaStore } from './stores.ts';

let opened: SchemaStore;
let pool: Pool;
let query: Query;
const stores: TablesStore[] = [];

beforeAll(async () => {
  opened = await openSchema(10, { listen: listenTo(inject('postgres')) });
  ({ pool } = opened);
  query = (text, values) => pool.query(text, values);
});
afterAll(async () => {
  for (const store of stores) await store.close();
  await opened.close();
});
afterEach(closeDevices);

/** Never looks by itself: changes come by LISTEN. */
async function mapped(mappings: Record<string, TableMapping>): Promise<TablesStore> {
  const store = tables(opened.store, query, { tables: mappings, poll: 2 ** 30 });
  stores.push(store);
  await store.setup();
  return store;
}

function remoteOf(
  store: Store,
  name: string,
  options: Partial<HandlerOptions> = {},
): Remote<string> {
  const handler = createHandler({
    ...{ store, authorize: () => true, hold: 20_000, onError: () => undefined },
    scopes: { owner: (owner) => ({ owner }) },
    ...options,
  });
  const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));
  return http({ url: `https://example.com/${name}`, fetch: fetch as never });
}

let names = 0;

async function makeTable(columns: string): Promise<string> {
  const table = `table_${++names}`;
  await pool.query(`create table ${table} (${columns})`);
  return table;
}

const rowsOf = async (table: string) =>
  (await pool.query(`select * from ${table} order by 1`)).rows;

describe('the suite for remotes', () => {
  remoteSuite(
    {
      name: 'a table',
      async open() {
        const table = await makeTable(
          `id text primary key, n int, owner text, date timestamptz, bytes bytea, big numeric,
           numbers jsonb, texts text[], nested json`,
        );
        const store = await mapped({
          [table]: {
            table,
            fields: {
              ...{ n: 'n', owner: 'owner', date: 'date', bytes: 'bytes', numbers: 'numbers' },
              ...{ texts: 'texts', nested: 'nested' },
            },
          },
        });
        return {
          remote: remoteOf(store, table, { hold: 50 }),
          scope: { ask: { owner: 'ada' }, inside: { owner: 'ada' }, outside: { owner: 'ben' } },
        };
      },
      lacks: ['reset'],
    },
    { describe, test },
  );
});

describe('a table of another program', () => {
  let table: string;
  let store: TablesStore;

  beforeEach(async () => {
    table = await makeTable(
      `id int primary key, title text not null default 'untitled', count int8 not null default 0,
       price numeric, at timestamptz, day date, tags text[], extra jsonb, owner text,
       secret text default 'kept', twice int8 generated always as (count % 1000 * 2) stored`,
    );
    store = await mapped({
      [table]: {
        table,
        fields: {
          ...{ title: 'title', count: 'count', price: 'price', when: 'at', day: 'day' },
          ...{ tags: 'tags', extra: 'extra', owner: 'owner', twice: 'twice' },
        },
      },
    });
  });

  const device = (options: Partial<HandlerOptions> = {}) => {
    const made = new Device(remoteOf(store, table, options));
    return { made, jobs: made.orders as any, settled: () => made.settled() };
  };

  test('columns are fields, and fields without a column stay with Cairn', async () => {
    await pool.query(`insert into ${table} (id, title, count, price, at, day, tags, extra) values
      (1, 'it''s \\ a "lamp"', 9007199254740993, 12.50, '2026-01-02T03:04:05.678901Z', '2026-02-03',
       '{a,"b c",NULL}', '{"a": [1, {"$foo": null}], "$date": 5}'),
      (2, 'b', -9223372036854775808, 'NaN', 'infinity', null, null, 'null')`);
    const { jobs, settled } = device();
    await settled();
    expect(await jobs.get('1')).toMatchObject({
      ...{ title: 'it\'s \\ a "lamp"', count: 9007199254740993n, price: 12.5, day: '2026-02-03' },
      ...{ when: new Date('2026-01-02T03:04:05.678Z'), tags: ['a', 'b c', null] },
      extra: { a: [1, { $foo: null }], $date: 5 },
    });
    expect(await jobs.get('1')).not.toHaveProperty('secret');
    expect(await jobs.get('2')).toMatchObject({ count: -(2n ** 63n), price: Number.NaN });
    const when = new Date('2027-01-01T00:00:00.123Z');
    await jobs.patch('1', { when, tags: ['x', 'y'], note: 'no column', seen: new Map([[1, 2]]) });
    await jobs.insert({ _id: '3', title: 'new', count: 2n ** 60n, extra: { at: when } });
    await settled();
    const [one, , three] = await rowsOf(table);
    // What the device has not changed is as it was, to the last digit.
    expect(one).toMatchObject({
      ...{ title: 'it\'s \\ a "lamp"', count: '9007199254740993', price: '12.50', at: when },
      ...{ tags: ['x', 'y'], secret: 'kept' },
    });
    expect(three).toMatchObject({ count: String(2n ** 60n), secret: 'kept', at: null });
    const other = device();
    await other.settled();
    expect(await other.jobs.get('1')).toMatchObject({ note: 'no column', seen: new Map([[1, 2]]) });
    expect(await other.jobs.get('3')).toMatchObject({ extra: { at: when } });
    await pool.query(`update ${table} set title = 'theirs' where id = 1`);
    await other.settled();
    expect(await other.jobs.get('1')).toMatchObject({ title: 'theirs', note: 'no column' });
  });

  test('what another program writes reaches a waiting page by LISTEN', async () => {
    const { jobs, settled } = device();
    await settled();
    for (const sql of [
      `insert into ${table} (id, title) values (1, 'lamp')`,
      `update ${table} set title = 'book' where id = 1`,
      `update ${table} set id = 2 where id = 1`,
      `delete from ${table} where id = 2`,
    ]) {
      await pool.query(sql);
      const rows = (await rowsOf(table)).map(({ id, title }) => ({ id, title }));
      const held = async () =>
        (await jobs.filter({})).map(({ _id, title }: any) => ({ id: Number(_id), title }));
      await expect.poll(held, { timeout: 15_000 }).toEqual(rows);
    }
  });

  test('truncate deletes everywhere, a rollback changes nothing', async () => {
    await pool.query(`insert into ${table} (id) select generate_series(1, 2500)`);
    const { jobs, settled } = device();
    await settled();
    expect(await jobs.count()).toBe(2500);
    await pool.query(`begin; delete from ${table}; rollback`);
    await settled();
    expect(await jobs.count()).toBe(2500);
    await pool.query(`truncate ${table}`);
    await settled();
    expect(await jobs.count()).toBe(0);
  });

  test('defaults, triggers and computed columns reach the device that wrote', async () => {
    await pool.query(`create function ${table}_upper() returns trigger language plpgsql as $$
      begin new.title := upper(new.title); return new; end $$;
      create trigger up before insert or update on ${table} for each row execute function ${table}_upper()`);
    const { jobs, settled } = device();
    await jobs.insertMany([
      { _id: '1', count: 4 },
      { _id: '2', title: 'quiet' },
    ]);
    await settled();
    await settled();
    expect(await jobs.get('1')).toMatchObject({ title: 'UNTITLED', count: 4, twice: 8 });
    expect(await jobs.get('2')).toMatchObject({ title: 'QUIET', count: 0 });
    await jobs.patch('1', { count: 5, twice: 1000 });
    await settled();
    await settled();
    expect(await jobs.get('1')).toMatchObject({ count: 5, twice: 10 });
  });

  test('a document that the table refuses is rejected with its reason, the others are made', async () => {
    await pool.query(`alter table ${table} add constraint positive check (count >= 0)`);
    const { made, jobs, settled } = device();
    await jobs.insertMany([
      ...[
        { _id: '1', count: -1 },
        { _id: 'x', count: 1 },
        { _id: '007' },
        { _id: '4', day: 'soon' },
      ],
      { _id: '5', count: 1 },
    ]);
    await settled();
    const reasons = Object.fromEntries((await made.sync.rejected()).map((r) => [r.id, r.reason]));
    expect(reasons).toEqual({
      1: 'The database refuses it (SQLSTATE 23514).',
      x: 'The database refuses it (SQLSTATE 22P02).',
      '007': 'The table writes this id as "7".',
      4: expect.stringMatching(/SQLSTATE 22/),
    });
    expect((await rowsOf(table)).map(({ id }) => id)).toEqual([5]);
  });

  test('both change a row: fields merge, and what both have changed is a conflict', async () => {
    await pool.query(`insert into ${table} (id, title, count) values (1, 'a', 1)`);
    const { made, jobs, settled } = device();
    await settled();
    made.sync.pause();
    await jobs.patch('1', { title: 'mine', count: 2 });
    await pool.query(`update ${table} set count = 7, price = 3 where id = 1`);
    made.sync.resume();
    await settled();
    expect(await jobs.get('1')).toMatchObject({ title: 'mine', count: 7, price: 3 });
    expect(await rowsOf(table)).toMatchObject([{ title: 'mine', count: '7', price: '3' }]);
    expect(made.sync.conflicts()).toHaveLength(1);
  });

  test('a row that a transaction holds is not waited for, and nothing is lost', async () => {
    await pool.query(`insert into ${table} (id, count) values (1, 1), (2, 1)`);
    const { jobs, settled } = device();
    await settled();
    const program = await pool.connect();
    await program.query(`begin; update ${table} set count = count + 10 where id = 1`);
    await jobs.patch('1', { title: 'mine' });
    await jobs.patch('2', { title: 'mine' });
    const settling = settled();
    // The other row does not wait for it.
    const title = async () => (await rowsOf(table)).find(({ id }) => id === 2)?.title;
    await expect.poll(title, { timeout: 30_000 }).toBe('mine');
    await program.query('commit');
    program.release();
    await settling;
    expect(await rowsOf(table)).toMatchObject([{ title: 'mine', count: '11' }, { title: 'mine' }]);
  });

  test('rights: what authorize hides stays hidden, and what a role may not write it does not', async () => {
    const role = `program_${process.pid}`;
    await pool.query(`create role ${role}; grant usage on schema ${opened.schema} to ${role};
      grant insert, update, select on ${table} to ${role}`);
    const program = connectionsTo(inject('postgres'), opened.schema, 1);
    await program.query(`set role ${role}`);
    await program.query(`insert into ${table} (id, owner) values (1, 'ada'), (2, 'ben')`);
    await expect(program.query('select * from cairn_noted')).rejects.toThrow(/permission denied/);
    await program.end();
    const mine = (one: any) => one.owner === 'ada';
    const { made, jobs, settled } = device({ authorize: () => ({ read: mine, write: mine }) });
    await settled();
    expect(Object.keys(await made.all())).toEqual(['1']);
    await jobs.insert({ _id: '2', owner: 'ada' });
    await settled();
    expect(await made.sync.rejected()).toMatchObject([{ id: '2' }]);
    expect(await rowsOf(table)).toMatchObject([{ owner: 'ada' }, { owner: 'ben' }]);
    await pool.query(`drop owned by ${role}; drop role ${role}`);
  });

  test('programs count while pages write: no change is skipped, no count is lost', async () => {
    await pool.query(`insert into ${table} (id) select generate_series(1, 8)`);
    const devices = [device(), device()];
    for (const { settled } of devices) await settled();
    let counted = 0;
    const program = async (seed: number) => {
      const client = await pool.connect();
      for (let step = 0; step < 25; step++) {
        const [a, b] = [(seed + step) % 8, (seed * 3 + step * 5) % 8].sort();
        await client.query('begin');
        await client.query(`update ${table} set count = count + 1 where id = ${Number(a) + 1}`);
        if (a !== b)
          await client.query(`update ${table} set count = count + 1 where id = ${Number(b) + 1}`);
        const ends = step % 5 === 4 ? 'rollback' : 'commit';
        await client.query(ends);
        if (ends === 'commit') counted += a === b ? 1 : 2;
      }
      client.release();
    };
    const page = async ({ jobs, made }: (typeof devices)[0], number: number) => {
      for (let step = 0; step < 25; step++) {
        await jobs.patch(`${1 + ((number + step) % 8)}`, {
          [`page${number}`]: step,
          title: `${step}`,
        });
        if (step % 8 === 7) await made.settled();
      }
    };
    await Promise.all([program(1), program(2), program(3), ...devices.map(page)]);
    for (const { settled } of [...devices, ...devices]) await settled();
    const rows = await rowsOf(table);
    expect(rows.reduce((sum, { count }) => sum + Number(count), 0)).toBe(counted);
    const truth = rows.map(({ id, title, count }) => ({
      _id: `${id}`,
      title,
      count: Number(count),
    }));
    for (const { jobs } of devices) {
      const held = (await jobs.filter({})).sort((x: any, y: any) => Number(x._id) - Number(y._id));
      expect(held).toMatchObject(truth);
    }
    for (const id of ['1', '8']) {
      const [one, other] = await Promise.all(devices.map(({ jobs }) => jobs.get(id)));
      expect(one).toEqual(other);
    }
  });

  test('a table that has changed is named, and setup() takes what it is now', async () => {
    await pool.query(`insert into ${table} (id, price) values (1, 5)`);
    await store.pull(table, undefined, 10);
    await pool.query(`alter table ${table} drop column price`);
    await pool.query(`update ${table} set title = 'new'`);
    await expect(store.pull(table, undefined, 10)).rejects.toMatchObject({
      ...{ name: 'TableError', code: 'table_changed', place: table },
    });
    await expect(store.setup()).rejects.toMatchObject({ code: 'column_missing', place: 'price' });
    const again = await mapped({ [table]: { table, fields: { title: 'title' } } });
    const { changes } = await again.pull(table, undefined, 10);
    expect(changes).toMatchObject([{ document: { _id: '1', title: 'new' } }]);
  });
});

test('what does not fit is named before anything is made', async () => {
  const pair = await makeTable('a int, b int, primary key (a, b)');
  const arrays = await makeTable('id int primary key, times timestamptz[]');
  for (const [mapping, code, place] of [
    [{ table: 'nowhere' }, 'table_missing', 'nowhere'],
    [{ table: "x'; drop table y; --" }, 'table_missing', "x'; drop table y; --"],
    [{ table: pair }, 'key_missing', pair],
    [{ table: pair, id: 'a' }, 'key_missing', pair],
    [{ table: arrays, fields: { x: 'y' } }, 'column_missing', 'y'],
    [{ table: arrays }, 'column_unsupported', 'times'],
  ] as const)
    await expect(mapped({ jobs: mapping })).rejects.toMatchObject({ code, place });
  for (const mapping of [{}, { table: '' }, { table: 'a', fields: { _id: 'b' } }, { tabel: 'a' }])
    expect(() => tables(opened.store, query, { tables: { jobs: mapping as never } })).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^option_/), place: 'jobs' }),
    );
});

test('names with quotes, of schemas, tables, columns, fields and collections', async () => {
  await pool.query(`create table "it's ""odd""" ("the 'id'" uuid primary key, "a ""b""" int)`);
  const name = `jobs of "o'neill" \\`;
  const store = await mapped({
    [name]: { table: `"it's ""odd"""`, fields: { "it's \\": 'a "b"' } },
  });
  await pool.query(`insert into "it's ""odd""" values ('11111111-1111-4111-8111-111111111111', 1)`);
  const { changes } = await store.pull(name, undefined, 10);
  const [{ id, version } = { id: '', version: '' }] = changes;
  expect(changes).toMatchObject([{ document: { "it's \\": 1 } }]);
  await store.push(name, [
    { id, base: version, key: 'k.1', document: { _id: id, "it's \\": 2 } },
    { id: crypto.randomUUID(), key: 'k.2', document: { _id: 'x', "it's \\": 3 } },
  ]);
  expect((await rowsOf(`"it's ""odd"""`)).map((row) => row['a "b"']).sort()).toEqual([2, 3]);
});
