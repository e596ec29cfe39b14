import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { remoteSuite } from '../../src/replication/testing/index.ts';
import { supabase } from '../../src/supabase/index.ts';
import { Device } from '../replication/remotes/device.ts';
import { SupabaseStandIn } from './supabase-stand-in.ts';

let server: SupabaseStandIn;
beforeAll(async () => {
  server = await SupabaseStandIn.start();
});
afterAll(() => server.stop());
const devices: Device[] = [];
afterEach(async () => {
  server.fault = () => undefined;
  for (const device of devices.splice(0)) await device.close();
});

let names = 0;

/** A table as docs/sync/supabase.md makes it. */
async function makeTable(columns: string, table = `todos_${++names}`): Promise<string> {
  await server.sql(`
    create table ${table} (id text primary key, owner text default auth.uid(), ${columns});
    alter table ${table} enable row level security;
    select cairn_table('${table}', array['owner']);
    create policy own on ${table} using (owner = auth.uid());
    create policy own on ${table}_gone using (owner = auth.uid());`);
  return table;
}

describe('the suite for remotes', () => {
  remoteSuite(
    {
      name: 'supabase()',
      async open() {
        const columns = `kind text, n int, date timestamptz, bytes bytea, numbers jsonb,
          texts text[], nested json`;
        const table = await makeTable(columns);
        await server.sql(`
          drop policy own on ${table}; drop policy own on ${table}_gone;
          create policy read on ${table} using (true); create policy read on ${table}_gone using (true);
          alter table ${table} alter owner drop default;
          select cairn_table('${table}', array['owner', 'kind'])`);
        return {
          remote: supabase({ client: server.client('ada'), table }),
          async recreate() {
            await server.sql(`drop table ${table}, ${table}_gone`);
            await makeTable(columns, table);
            await server.sql(`alter table ${table} alter owner drop default;
              drop policy own on ${table}; create policy own on ${table} using (true)`);
          },
          scope: { ask: { kind: 'a' }, inside: { kind: 'a' }, outside: { kind: 'b' } },
        };
      },
    },
    { describe, test },
  );
});

describe('replicate() with a table of Supabase', () => {
  let table: string;
  beforeEach(async () => {
    table = await makeTable(`title text check (title <> 'forbidden'), count int not null default 0,
      price numeric, at timestamptz, shared boolean generated always as (owner is null) stored`);
  });

  const device = (user: string | undefined, options: object = {}) => {
    const made = new Device(supabase({ client: server.client(user), table }), options);
    devices.push(made);
    return Object.assign(made, { todos: made.orders as any });
  };
  const rows = () => server.sql(`select * from ${table} order by id`);

  test('columns are fields, defaults come back, and the other fields stay with the document', async () => {
    const ada = device('ada');
    await ada.todos.insert({ _id: 'a', title: 'lamp', at: new Date(5), tags: new Set(['x']) });
    await ada.settled();
    expect(await rows()).toMatchObject([
      { id: 'a', title: 'lamp', at: new Date(5), owner: 'ada', count: 0, price: null },
    ]);
    expect(await ada.todos.get('a')).toMatchObject({
      ...{ title: 'lamp', at: new Date(5), tags: new Set(['x']), owner: 'ada', count: 0 },
    });
  });

  test('what other programs write reaches the page, and a page keeps what it has not changed', async () => {
    const ada = device('ada');
    await server.sql(`insert into ${table} (id, owner, title, price, at) values
      ('a', 'ada', 'lamp', 1.23456789012345678901, '2026-01-02T03:04:05.678901Z')`);
    ada.sync.resume();
    await ada.settled();
    expect(await ada.todos.get('a')).toMatchObject({
      ...{ title: 'lamp', at: new Date('2026-01-02T03:04:05.678Z') },
    });
    await ada.todos.patch('a', { title: 'desk' });
    await ada.settled();
    const [row] = await server.sql(`select title, price::text, at::text from ${table}`);
    expect(row).toMatchObject({ title: 'desk', price: '1.23456789012345678901' });
    expect(row.at).toContain('.678901');
    await server.sql(`update ${table} set title = null, count = 7`);
    ada.sync.resume();
    await ada.settled();
    expect(await ada.todos.get('a')).toMatchObject({ count: 7 });
    expect(await ada.todos.get('a')).not.toHaveProperty('title');
    await server.sql(`delete from ${table}`);
    ada.sync.resume();
    await ada.settled();
    expect(await ada.todos.get('a')).toBeUndefined();
  });

  test('row level security: nobody reads or writes the rows of others', async () => {
    const [ada, ben] = [device('ada'), device('ben')];
    await ada.todos.insert({ _id: 'a', title: 'of ada' });
    await ada.settled();
    await ben.settled();
    expect(await ben.todos.count()).toBe(0);
    await ben.todos.insertMany([
      { _id: 'a', title: 'mine now' },
      { _id: 'b', title: 'of ada too', owner: 'ada' },
      { _id: 'c', title: 'fine' },
    ]);
    await ben.settled();
    expect((await ben.sync.rejected()).map(({ id, reason }) => [id, reason])).toEqual([
      ['a', expect.stringContaining('23505')],
      ['b', expect.stringContaining('42501')],
    ]);
    expect(ben.sync.status).toMatchObject({ state: 'idle', rejected: 2 });
    expect((await rows()).map(({ id, owner, title }) => [id, owner, title])).toEqual([
      ['a', 'ada', 'of ada'],
      ['c', 'ben', 'fine'],
    ]);
  });

  test('a row that may be read and not written, one that a constraint refuses: rejected', async () => {
    await server.sql(`create policy read on ${table} for select using (true)`);
    const [ada, ben] = [device('ada'), device('ben')];
    await ada.todos.insert({ _id: 'a', title: 'of ada' });
    await ada.settled();
    ben.sync.resume();
    await ben.settled();
    await ben.todos.patch('a', { title: 'of ben' });
    await ben.todos.insert({ _id: 'b', title: 'forbidden' });
    await ben.settled();
    expect((await ben.sync.rejected()).map(({ id, reason }) => [id, reason])).toEqual([
      ['a', expect.stringContaining('does not let you')],
      ['b', expect.stringContaining('23514')],
    ]);
    await ben.todos.delete('a');
    await ben.settled();
    expect(await rows()).toMatchObject([{ id: 'a', title: 'of ada' }]);
  });

  test('a row that goes to another owner leaves one device and comes to the other', async () => {
    const [ada, ben] = [device('ada'), device('ben')];
    await ada.todos.insert({ _id: 'a', title: 'lamp' });
    await ada.settled();
    await server.sql(`update ${table} set owner = 'ben'`);
    for (const one of [ada, ben]) {
      one.sync.resume();
      await one.settled();
    }
    expect(await ada.todos.count()).toBe(0);
    expect(await ben.todos.get('a')).toMatchObject({ title: 'lamp', owner: 'ben' });
    await server.sql(`update ${table} set owner = 'ada'`);
    for (const one of [ada, ben]) {
      one.sync.resume();
      await one.settled();
    }
    expect(await ada.todos.get('a')).toMatchObject({ title: 'lamp', owner: 'ada' });
    expect(await ben.todos.count()).toBe(0);
  });

  test('who has not logged in gets nothing, and no error that repeats without end', async () => {
    await server.sql(`insert into ${table} (id, owner) values ('a', 'ada')`);
    const nobody = device(undefined);
    await nobody.settled();
    expect(await nobody.todos.count()).toBe(0);
    await nobody.todos.insert({ _id: 'b', title: 'x' });
    await nobody.settled();
    expect(await nobody.sync.rejected()).toMatchObject([{ id: 'b' }]);
    await server.sql(`revoke all on ${table} from anon, authenticated`);
    nobody.sync.resume();
    await nobody.reaches('needs_auth');
  });

  test('a transaction that commits behind a later one is not skipped, and rings', async () => {
    const ada = device('ada');
    await ada.settled();
    const slow = await server.pool.connect();
    await slow.query('begin');
    await slow.query(`insert into ${table} (id, owner) values ('slow', 'ada')`);
    await server.sql(`insert into ${table} (id, owner) values ('fast', 'ada')`);
    await ada.settled();
    await slow.query('commit');
    slow.release();
    // Nobody rings: what is behind is looked for.
    await expect.poll(() => ada.todos.count()).toBe(2);
  });

  test('a call whose answer is lost is applied once', async () => {
    const ada = device('ada');
    await ada.todos.insert({ _id: 'a', count: 1 });
    await ada.settled();
    server.fault = (name) => (name.endsWith('push') ? 'answer' : undefined);
    const offline = ada.reaches('offline');
    await ada.todos.patch('a', { count: 2 });
    await offline;
    server.fault = () => undefined;
    await server.sql(`update ${table} set count = 5`);
    ada.sync.resume();
    await ada.settled();
    expect(await ada.todos.get('a')).toMatchObject({ count: 5 });
    expect(ada.sync.conflicts()).toEqual([]);
  });

  test('a dump that was restored: the table says so, and devices go on after cairn_table()', async () => {
    const ada = device('ada');
    await ada.todos.insert({ _id: 'a', title: 'lamp' });
    await ada.settled();
    // As another cluster has it, whose transactions have smaller numbers.
    await server.sql(`alter table ${table} disable trigger zz_cairn;
      update ${table} set _tx = '900000000000'; alter table ${table} enable trigger zz_cairn`);
    ada.sync.resume();
    await ada.reaches('waiting');
    expect(ada.sync.status.error?.message).toContain('call cairn_table() again');
    await server.sql(`select cairn_table('${table}', array['owner'])`);
    ada.sync.resume();
    await ada.settled();
    expect(await ada.todos.get('a')).toMatchObject({ title: 'lamp' });
  });

  test('one truncated, one without its functions', async () => {
    const ada = device('ada');
    await ada.todos.insert({ _id: 'a', title: 'lamp' });
    await ada.settled();
    await server.sql(`truncate ${table}`);
    ada.sync.resume();
    await ada.settled();
    expect(await ada.todos.count()).toBe(0);
    await server.sql(`drop table ${table}`);
    ada.sync.resume();
    await ada.reaches('failed');
    expect(ada.sync.status.error).toMatchObject({ code: 'remote_refused' });
  });

  test('answers have a limit: the rest of many conflicts comes by a pull', async () => {
    await server.sql(`insert into ${table} (id, owner, title)
      select 'r' || lpad(n::text, 2, '0'), 'ada', repeat('x', 100000) from generate_series(1, 40) n`);
    const ids = Array.from({ length: 40 }, (_, n) => `r${String(n + 1).padStart(2, '0')}`);
    const push = async (documents: { _id: string }[], base: string | null = null) => {
      const pushed = documents.map((document) => ({
        id: document._id,
        base,
        key: 'k.1',
        document,
      }));
      const call = { tbl: table, rows: pushed };
      const answer = await server.client('ada').rpc('cairn_table_push' as never, call as never);
      expect(answer).toMatchObject({ status: 200 });
      return answer.data as any[];
    };
    const results = await push(ids.map((_id) => ({ _id, title: 'mine' })));
    expect(JSON.stringify(results).length).toBeLessThan(1_200_000);
    const conflicts = results.filter(({ conflict }) => conflict);
    const refusals = results.filter(({ rejected }) => rejected?.retry === true);
    expect([conflicts.length, refusals.length]).toEqual([10, 30]);
    // What the database makes of pushed documents counts as well; what does not fit is not made.
    await server.sql(`alter table ${table} add wide text default repeat('y', 100000)`);
    const made = await push(ids.map((id) => ({ _id: `${id} new` })));
    expect(JSON.stringify(made).length).toBeLessThan(1_200_000);
    expect(made.filter(({ rejected }) => rejected?.retry === true)).toHaveLength(30);
    expect(await server.sql(`select id from ${table} where id like '% new'`)).toHaveLength(10);
    await server.sql(`delete from ${table}`);
    await server.sql(`alter table ${table} drop wide`);
    // A device gets to the end of it.
    const ada = device('ada');
    await ada.todos.insertMany(ids.map((_id) => ({ _id, title: 'mine' })));
    await server.sql(`insert into ${table} (id, owner, title)
      select 'r' || lpad(n::text, 2, '0'), 'ada', repeat('x', 100000) from generate_series(1, 40) n`);
    await ada.settled();
    expect(ada.sync.status).toMatchObject({ state: 'idle', pending: 0, rejected: 0 });
  });

  test('a document that is too large for an answer is rejected by itself', async () => {
    await server.sql(`insert into ${table} (id, owner, title) values
      ('large', 'ada', repeat('x', 15100000)), ('small', 'ada', 'lamp')`);
    const ada = device('ada');
    await ada.settled();
    expect(await ada.todos.get('small')).toMatchObject({ title: 'lamp' });
    expect(await ada.todos.count()).toBe(1);
    await ada.todos.insert({ _id: 'large', title: 'mine' });
    await ada.settled();
    expect((await ada.sync.rejected()).map(({ id, reason }) => [id, reason])).toEqual([
      ['large', 'The document of the server is too large.'],
    ]);
  });

  test('an answer that is too large is not worked with', async () => {
    const document = { _id: 'a', text: 'x'.repeat(17_000_000) };
    const changes = [{ id: 'a', version: 'v', key: 'k', document }];
    const data = { changes, checkpoint: 'c', more: false };
    const client = { rpc: async () => ({ data, error: null, status: 200 }) };
    const { signal } = new AbortController();
    await expect(
      supabase({ client, table }).pull(undefined, { limit: 10, signal }),
    ).rejects.toMatchObject({ code: 'answer_invalid' });
  });

  test('a row that somebody has broken on purpose is rejected, and stops nobody', async () => {
    await server.sql(`create policy read on ${table} using (true) with check (true);
      alter table ${table} add extra jsonb`);
    const ada = device('ada');
    await ada.settled();
    const rows = [
      { id: 'x', key: 'é'.repeat(300), document: { _id: 'other', a: 1 } },
      { id: 'y', key: 'k.1', document: { _id: 'y', a: { $date: 'never' } } },
      { id: '', key: 'k.2', document: { _id: '' } },
    ];
    const call = { tbl: table, rows };
    expect(
      await server.client('mallory').rpc('cairn_table_push' as never, call as never),
    ).toMatchObject({ status: 200 });
    await server.sql(
      `insert into ${table} (id, owner, extra) values ('z', 'ada', '{"$date": "never"}'), ('ok', 'ada', '1')`,
    );
    ada.sync.resume();
    await ada.settled();
    expect(ada.sync.status.state).toBe('idle');
    expect(await ada.todos.get('ok')).toMatchObject({ extra: 1 });
    // Of x the trigger has mended the _id.
    expect(await ada.todos.count()).toBe(2);
    await ada.todos.insert({ _id: 'y', title: 'mine' });
    await ada.todos.insert({ _id: 'p', title: 'mine' });
    await ada.settled();
    expect(await server.sql(`select title from ${table} where id = 'p'`)).toEqual([
      { title: 'mine' },
    ]);
  });
});
