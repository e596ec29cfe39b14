import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createHandler } from '../../src/server/index.ts';
import { ask, wire } from '../server/requests.ts';
import { row, versionOf } from '../server/store-contract.ts';
import { storeOn } from './connections.ts';
import { openSchema, type SchemaStore } from './stores.ts';

let opened: SchemaStore;

beforeAll(async () => {
  opened = await openSchema();
});

afterAll(() => opened.close());

const push = async (rows: object[]): Promise<any[]> => {
  const handler = createHandler({ store: opened.store, authorize: () => true });
  return (await ask(handler, 'orders', 'push', { rows })).results;
};

test('text that Postgres cannot store is rejected, its neighbours are made', async () => {
  const refused = { rejected: { reason: expect.stringMatching(/NUL|surrogate/) } };
  const made = { version: expect.any(String) };
  const results = await push([
    wire('n1', { text: 'a\0b' }),
    wire('n2', { text: '\\u0000 is no NUL, and \u{1F600} is a pair' }),
    wire('n3', { text: 'half \ud83d' }),
    wire('n4', { text: '\udc00 half' }),
    wire('n5', { 'key\0': 1 }),
    wire('n6\0', {}),
    wire('n7\ud800', {}),
    wire('n8', { text: '\\\\\0' }),
    wire('n9', { text: '\\\\\\' }),
    wire("n'; drop table cairn_rows; --", { "'; --": '$1 %s \\' }),
  ]);
  expect(results).toEqual([
    ...[refused, made, refused, refused, refused, refused, refused, refused, made, made],
  ]);
});

test('filters over rows whose ids Postgres cannot store', async () => {
  const handler = createHandler({ store: opened.store, authorize: () => ({ write: () => true }) });
  const rows = [wire('f\0', {}), wire('f', {})];
  const { results } = await ask(handler, 'orders', 'push', { rows });
  expect(results).toEqual([{ rejected: expect.anything() }, { version: expect.any(String) }]);
});

test('the deepest document and the longest id that the protocol allows are stored', async () => {
  const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  // which no compression makes shorter
  const hashes = Array.from({ length: 40 }, (_, n) => createHash('sha256').update(`${n}`));
  const id = hashes
    .map((hash) => hash.digest('base64'))
    .join('')
    .slice(0, 1500);
  const results = await push([
    wire('deep', { deep: nested(499) }),
    wire('deeper', { deep: nested(500) }),
    wire(id, { _id: id }),
  ]);
  const made = { version: expect.any(String) };
  // No client could store it.
  const refused = { rejected: { reason: expect.stringContaining('500 levels') } };
  expect(results).toEqual([made, refused, made]);
});

test('numbers keep their value', async () => {
  const numbers = [5e-324, 1.7976931348623157e308, 0.1, 2 ** 53 - 1, -1e21, 123456789012345680000];
  await push([wire('numbers', { numbers })]);
  const [stored] = await opened.store.read('orders', ['numbers']);
  expect(stored?.document?.numbers).toEqual(numbers);
});

test('rows that a trigger or a constraint of the application refuses are rejected alone', async () => {
  const { pool } = opened;
  await pool.query(`alter table cairn_rows
    add constraint positive check ((body->>'amount')::numeric > 0)`);
  await pool.query(`create function no_sunday() returns trigger language plpgsql as $$
    begin
      if new.body->>'day' = 'Sunday' then raise exception 'We are closed on Sunday.'; end if;
      return new;
    end $$`);
  await pool.query(`create trigger no_sunday before insert or update on cairn_rows
    for each row execute function no_sunday()`);
  const results = await push([
    wire('t1', { amount: 1 }),
    wire('t2', { amount: -1 }),
    wire('t3', { day: 'Sunday' }),
    wire('t4', { amount: 'many' }),
    wire('t5', { day: 'Monday' }),
  ]);
  const made = { version: expect.any(String) };
  expect(results).toEqual([
    made,
    { rejected: { reason: 'The database refuses it (SQLSTATE 23514).' } },
    { rejected: { reason: 'We are closed on Sunday.' } },
    { rejected: { reason: 'The database refuses it (SQLSTATE 22P02).' } },
    made,
  ]);
});

test('a role that does not own the tables sees and writes nothing', async () => {
  const { schema, pool } = opened;
  const role = `anon_${process.pid}`;
  await pool.query(`create role ${role}; grant usage on schema ${schema} to ${role}`);
  await pool.query(`grant all on all tables in schema ${schema} to ${role}`);
  await pool.query(`grant all on all functions in schema ${schema} to ${role}`);
  const client = new pg.Client({ host: inject('postgres'), user: 'cairn', database: 'postgres' });
  await client.connect();
  await client.query(`set search_path to ${schema}; set role ${role}`);
  const call = async (text: string) => (await client.query(text)).rows[0].answer;
  expect((await call(`select cairn_pull('orders') as answer`)).changes).toEqual([]);
  expect(await call(`select cairn_read('orders', '{t1}') as answer`)).toEqual([]);
  await expect(
    call(`select cairn_push('orders', '[{"id":"t1","key":"k","document":{}}]') as answer`),
  ).rejects.toThrow(/row-level security/);
  await client.end();
  await pool.query(`drop owned by ${role}; drop role ${role}`);
});

test('a database that is not there is an outage, which names the time of a retry', async () => {
  const lost = new pg.Pool({ host: '/nowhere', user: 'cairn' });
  await expect(storeOn(lost).pull('orders', undefined, 1)).rejects.toMatchObject({
    code: 'store_unavailable',
    retryAfter: 2,
  });
});

describe('with 100,000 rows', () => {
  const plans: string[] = [];
  let client: pg.Client;

  beforeAll(async () => {
    const { pool, schema, store } = opened;
    await store.push('large', [row('first', 1)]);
    await pool.query(`insert into cairn_rows
      select 'large', 'id ' || n, n || '-x', n, '{k}', array[n || '-x'], json_build_object('n', n), 9
      from generate_series(2, 100000) n`);
    await pool.query(`update cairn_collections set seq = 100000 where collection = 'large'`);
    await pool.query('analyze cairn_rows');
    client = new pg.Client({ host: inject('postgres'), user: 'cairn', database: 'postgres' });
    client.on('notice', ({ message }) => plans.push(message ?? ''));
    await client.connect();
    await client.query(`set search_path to ${schema}`);
    await client.query("load 'auto_explain'");
    for (const setting of [
      'log_min_duration = 0',
      'log_nested_statements = on',
      'log_analyze = on',
    ]) {
      await client.query(`set auto_explain.${setting}`);
    }
    await client.query('set auto_explain.log_level = notice');
  });

  afterAll(() => client.end());

  test('a pull reads its page by the index, and nothing else', async () => {
    const { store } = opened;
    const { checkpoint } = await store.pull('large', undefined, 1000);
    const after = checkpoint.replace(/\d+$/, '50000');
    plans.length = 0;
    // more often than it takes Postgres to change to a generic plan
    for (let time = 0; time < 8; time++) {
      await client.query('select cairn_pull($1::text, $2::text, 500)', ['large', after]);
    }
    const reads = plans.filter((plan) => plan.includes('cairn_rows n'));
    expect(reads).toHaveLength(8);
    for (const plan of reads) {
      expect(plan).toMatch(/Index Scan using cairn_rows_by_seq on cairn_rows n.*rows=501 loops=1/);
      expect(plan).not.toMatch(/Seq Scan|Bitmap/);
    }
  });

  test('a push finds its rows by the index', async () => {
    plans.length = 0;
    const rows = JSON.stringify([row('id 777', 1)]);
    for (let time = 0; time < 8; time++) {
      await client.query('select cairn_push($1::text, $2::text::json)', ['large', rows]);
    }
    const reads = plans.filter((plan) => plan.includes('cairn_rows r'));
    expect(reads).toHaveLength(8);
    for (const plan of reads)
      expect(plan).toMatch(/Index Scan using cairn_rows_pkey on cairn_rows r/);
  });

  test('a row that follows them is pulled alone', async () => {
    const { store } = opened;
    const { checkpoint } = await store.pull('large', undefined, 1);
    const after = checkpoint.replace(/\d+$/, '100000');
    const [result] = await store.push('large', [row('newest', 1)]);
    const version = versionOf(result);
    expect((await store.pull('large', after, 500)).changes).toMatchObject([{ version }]);
  });
});
