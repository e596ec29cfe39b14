import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { makeApp, type Served } from './consumers.ts';
import { REPLICATED, replicateOrders, startSyncServer } from './sync-server.ts';
import { run } from './tarball.ts';

let app: string;
let server: Served;

beforeAll(async () => {
  app = await makeApp({});
  server = await startSyncServer();
});

afterAll(async () => {
  await server?.close();
  if (app) removeFolder(app);
});

const node = (script: string) =>
  run(process.execPath, ['--input-type=module', '--eval', script], app);

test('importing replication and the server has no effect and prints nothing', async () => {
  const script = "await import('cairndb/replication'); await import('cairndb/server')";
  expect(await node(script)).toEqual({ stdout: '', stderr: '' });
});

test('two databases in Node replicate with the server of the package', async () => {
  const { stdout, stderr } = await node(`
    import * as cairndb from 'cairndb';
    import * as replication from 'cairndb/replication';
    Object.assign(globalThis, { cairndb, replication });
    const result = await (${replicateOrders})('${server.url}/node');
    console.log(JSON.stringify(result));
  `);
  expect(JSON.parse(stdout)).toEqual(REPLICATED);
  expect(stderr).toBe('');
});

test('a program that replicates and never stops ends', async () => {
  const { stdout } = await node(`
    import { Database } from 'cairndb';
    import { http, replicate } from 'cairndb/replication';
    const db = new Database({ name: 'shop', storage: 'memory' });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    const headers = { authorization: 'Bearer ada' };
    const sync = replicate(orders, {
      ...{ live: false, remote: http({ url: '${server.url}/ending', headers }) },
    });
    await orders.insert({ _id: 'o' });
    await sync.settled();
    console.log(sync.status.state);
  `);
  expect(stdout).toBe('idle\n');
});

test('the server answers who it does not know with 401, and others with the change', async () => {
  const pull = (authorization: string) =>
    fetch(`${server.url}/raw/pull`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: '{}',
    });
  expect((await pull('Bearer eve')).status).toBe(401);
  expect(await (await pull('Bearer ada')).json()).toMatchObject({ changes: [], more: false });
});

test('the tables for PostgreSQL are in the package, as postgres() makes them', async () => {
  const { stdout } = await node(`
    import { readFile } from 'node:fs/promises';
    import { postgres } from 'cairndb/server';
    const path = new URL(import.meta.resolve('cairndb/server/postgres.sql'));
    const asked = [];
    const query = async (text) => (asked.push(text), { rows: [] });
    await postgres(query).setup();
    console.log(JSON.stringify([asked[0], await readFile(path, 'utf8')]));
  `);
  const [made, packed] = JSON.parse(stdout);
  expect(made).toContain('create or replace function cairn_push(');
  expect(made.trim()).toBe(packed.trim());
});
