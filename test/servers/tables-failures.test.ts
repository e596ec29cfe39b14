import { PGlite } from '@electric-sql/pglite';
import type { Pool } from 'pg';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { http, type Remote } from '../../src/replication/index.ts';
import { remoteSuite } from '../../src/replication/testing/index.ts';
import { createHandler, postgres, type Query, type Store } from '../../src/server/index.ts';
import { tables } from '../../src/server/tables/index.ts';
import { startCluster } from '../../tools/servers/cluster.mjs';
import { closeDevices, Device } from '../replication/device.ts';
import { connectionsTo } from './connections.ts';
import { openSchema } from './stores.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(closeDevices);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const FIELDS = { n: 'n', owner: 'owner', extra: 'extra' };

/** A table of jobs, and the store over it. */
async function jobsOver(query: Query, table = 'jobs', options = {}) {
  await query(`create table if not exists ${table} (
    id text primary key, n int, owner text, extra json)`);
  const store = tables(postgres(query, { poll: 50, ...options }), query, {
    ...{ tables: { [table]: { table, fields: FIELDS } }, poll: 50 },
  });
  await store.setup();
  return store;
}

function remoteOf(store: Store, name = 'jobs'): Remote<string> {
  const handler = createHandler({
    ...{ store, authorize: () => true, hold: 50, onError: () => undefined },
    scopes: { owner: (owner) => ({ owner }) },
  });
  const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));
  return http({ url: `https://example.com/${name}`, headers: {}, fetch: fetch as never });
}

const queryOf =
  (pool: Pool): Query =>
  (text, values) =>
    pool.query(text, values);

/** Connections to a cluster of the test's own. */
function poolAt(folder: string): Pool {
  const pool = connectionsTo(folder, 'public', 4);
  closing.push(() => pool.end());
  return pool;
}

describe('the suite for remotes', () => {
  let names = 0;
  let glite: Promise<PGlite> | undefined;
  remoteSuite(
    {
      name: 'a table of PGlite',
      async open() {
        glite ??= PGlite.create();
        const db = await glite;
        if (names === 0) closing.push(() => db.close());
        const table = `jobs_${++names}`;
        const query: Query = (text, values) => db.query(text, values);
        const store = await jobsOver(query, table, {
          listen: (channel: string, onNotify: () => void) => db.listen(channel, onNotify),
        });
        return {
          remote: remoteOf(store, table),
          scope: { ask: { owner: 'ada' }, inside: { owner: 'ada' }, outside: { owner: 'ben' } },
          close: () => store.close(),
        };
      },
      lacks: ['reset'],
    },
    { describe, test },
  );
});

test('a row that JSON functions of PostgreSQL refuse stops no other row', async () => {
  const { pool, close } = await openSchema(5);
  closing.push(close);
  const query = queryOf(pool);
  const store = await jobsOver(query);
  await pool.query(String.raw`insert into jobs values
    ('a', 1, 'ada', '{"text": "a\u0000b"}'), ('b', 2, 'ada', '{"half": "\ud800"}'), ('c', 3, 'ada', '"\ud83d\ude00"')`);
  const { changes } = await store.pull('jobs', undefined, 10);
  expect(changes.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  expect(changes.map(({ document }) => document?.extra)).toEqual([undefined, undefined, '😀']);
  await pool.query(`update jobs set n = 4`);
  const after = await store.pull('jobs', undefined, 10);
  expect(after.changes.map(({ document }) => document?.n)).toEqual([4, 4, 4]);
  expect(
    await store.push('jobs', [
      {
        id: 'a',
        base: after.changes.find(({ id }) => id === 'a')?.version,
        key: 'd.1',
        document: { _id: 'a', n: 5 } as never,
      },
    ]),
  ).toMatchObject([{ version: expect.any(String) }]);
  expect((await pool.query('select n from jobs order by id')).rows.map(({ n }) => n)).toEqual([
    5, 4, 4,
  ]);
  await store.close();
});

test('connections that are killed at any moment: the table and the devices end equal', async () => {
  const { pool, schema, close } = await openSchema(8);
  closing.push(close);
  const other = connectionsTo(inject('postgres'), schema, 2);
  closing.push(() => other.end());
  const store = await jobsOver(queryOf(pool));
  const devices = [new Device(remoteOf(store)), new Device(remoteOf(store))];
  const jobs = devices.map(({ orders }) => orders as any);
  await jobs[0].insertMany(Array.from({ length: 8 }, (_, n) => ({ _id: `j${n}`, n: 0 })));
  for (const one of devices) await one.settled();
  let isOver = false;
  const killing = (async () => {
    for (let time = 0; time < 25 && !isOver; time++) {
      await other.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = '${schema}' and pid <> pg_backend_pid()
          and query like '%cairn%' and state = 'active' and query not like '%pg_stat_activity%'`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  for (let step = 0; step < 40; step++) {
    await jobs[step % 2].patch(`j${step % 8}`, { [`by${step % 2}`]: step });
    await other.query(`update jobs set n = n + 1 where id = 'j${step % 8}'`);
  }
  await killing;
  isOver = true;
  for (const one of [...devices, ...devices]) {
    one.sync.resume();
    await one.settled();
  }
  const { rows } = await other.query('select id, n from jobs order by id');
  expect(rows.map(({ n }) => n)).toEqual(Array(8).fill(5));
  const [one, two] = await Promise.all(devices.map((device) => device.all()));
  expect(one).toEqual(two);
  expect(Object.values(one ?? {}).map((job: any) => job.n)).toEqual(Array(8).fill(5));
  for (let id = 0; id < 8; id++)
    expect(one?.[`j${id}`]).toMatchObject({ [`by${id % 2}`]: 32 + id });
  await store.close();
});

test('a server that crashes, and one that is restored from an older copy', async () => {
  const cluster = await startCluster();
  closing.push(() => cluster.remove());
  const pool = poolAt(cluster.folder);
  let store = await jobsOver(queryOf(pool));
  let remote = remoteOf(store);
  const moving: Remote<string> = {
    ...{ id: remote.id, scopes: true },
    pull: (...ask) => remote.pull(...ask),
    push: (...ask) => remote.push(...ask),
  };
  const device = new Device(moving);
  const jobs = device.orders as any;
  await pool.query(`insert into jobs values ('a', 1), ('b', 1)`);
  await device.settled();
  // What a program has committed before the crash, and nobody has taken.
  await pool.query(`update jobs set n = 2 where id = 'a'`);
  await cluster.crash();
  await jobs.patch('b', { owner: 'device' });
  await cluster.start();
  device.sync.resume();
  await device.settled();
  expect(await device.all()).toMatchObject({ a: { n: 2 }, b: { n: 1, owner: 'device' } });
  await cluster.stop();
  const copy = await cluster.copy();
  closing.push(() => copy.remove());
  await cluster.start();
  await pool.query(`update jobs set n = 3 where id = 'a'; insert into jobs values ('lost', 1)`);
  await device.settled();
  expect(await device.all()).toHaveProperty('lost');
  device.sync.pause();
  await jobs.patch('a', { owner: 'kept' });
  await store.close();
  const older = poolAt(copy.folder);
  store = await jobsOver(queryOf(older));
  remote = remoteOf(store);
  await older.query(`update jobs set n = 7 where id = 'b'`);
  device.sync.resume();
  await device.settled();
  await device.settled();
  const all = await device.all();
  expect(Object.keys(all).sort()).toEqual(['a', 'b']);
  expect(all).toMatchObject({ a: { owner: 'kept' }, b: { n: 7, owner: 'device' } });
  const { rows } = await older.query('select id, n, owner from jobs order by id');
  expect(rows).toMatchObject([{ owner: 'kept' }, { n: 7, owner: 'device' }]);
  expect(rows[0].n).toBe((all.a as any).n);
  await store.close();
});

test('a standby answers pulls, and a promoted one goes on with the table', async () => {
  const cluster = await startCluster();
  closing.push(() => cluster.remove());
  const pool = poolAt(cluster.folder);
  const primary = await jobsOver(queryOf(pool));
  let remote = remoteOf(primary);
  const device = new Device({
    id: remote.id,
    pull: (...ask) => remote.pull(...ask),
    push: (...ask) => remote.push(...ask),
  } as Remote<string>);
  const jobs = device.orders as any;
  await pool.query(`insert into jobs values ('a', 1), ('b', 1), ('gone', 1)`);
  await device.settled();
  const standby = await cluster.standby();
  closing.push(() => standby.remove());
  // Committed, and taken by nobody before the primary is gone.
  await pool.query(`update jobs set n = 2 where id = 'a'; delete from jobs where id = 'gone'`);
  const promoted = poolAt(standby.folder);
  const rows = async () => (await promoted.query('select id, n, owner from jobs order by id')).rows;
  await expect.poll(rows).toHaveLength(2);
  await primary.close();
  await cluster.stop();
  const query = queryOf(promoted);
  const store = tables(postgres(query, { poll: 50 }), query, {
    ...{ tables: { jobs: { table: 'jobs', fields: FIELDS } }, poll: 50 },
  });
  remote = remoteOf(store);
  // As of the last row that the primary has taken; changes wait.
  await device.settled();
  expect(await device.all()).toMatchObject({ a: { n: 1 }, b: { n: 1 }, gone: { n: 1 } });
  await jobs.patch('b', { owner: 'device' });
  await expect(device.sync.settled({ timeout: 500 })).rejects.toMatchObject({
    code: 'settled_timeout',
  });
  standby.run('psql', '-d', 'postgres', '-c', 'select pg_promote()');
  await promoted.query(`insert into jobs values ('c', 3)`);
  device.sync.resume();
  await device.settled();
  await device.settled();
  const all = await device.all();
  expect(all).toMatchObject({ a: { n: 2 }, b: { n: 1, owner: 'device' }, c: { n: 3 } });
  expect(Object.keys(all)).toHaveLength(3);
  expect(await rows()).toMatchObject([{ n: 2 }, { n: 1, owner: 'device' }, { n: 3 }]);
  await store.close();
});
