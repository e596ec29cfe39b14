import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { makeApp } from './consumers.ts';
import { ROOT, run } from './tarball.ts';

let app: string;

beforeAll(async () => {
  app = await makeApp({ 'never-closes.mjs': NEVER_CLOSES });
});

afterAll(() => {
  if (app) removeFolder(app);
});

const node = (script: string) =>
  run(process.execPath, ['--input-type=module', '--eval', script], app);

test('importing the package on a server has no effect and prints nothing', async () => {
  expect(await node("await import('cairndb')")).toEqual({ stdout: '', stderr: '' });
});

test('neither importing nor constructing touches browser globals', async () => {
  const { stdout, stderr } = await node(`
    const touched = [];
    const names = ['indexedDB', 'Worker', 'window', 'self', 'document', 'navigator', 'localStorage'];
    for (const name of names) {
      const get = () => void touched.push(name);
      Object.defineProperty(globalThis, name, { configurable: true, get });
    }
    const { Database, connect } = await import('cairndb');
    new Database({ name: 'shop' });
    connect({ name: 'shop' });
    console.log(JSON.stringify(touched));
  `);
  expect({ stdout, stderr }).toEqual({ stdout: '[]\n', stderr: '' });
});

test('constructing on a server starts nothing before the first call', async () => {
  const { stdout, stderr } = await node(`
    import { Database, connect } from 'cairndb';
    const databases = [new Database({ name: 'shop' }), connect({ name: 'shop' })];
    const shown = [];
    for (const db of databases) {
      const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', caching: true });
      const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
      for (const live of [orders.live({}), settings.live('theme')]) {
        shown.push(live.getServerSnapshot().status); // React
        live.store.subscribe(({ status }) => shown.push(status))(); // Svelte
      }
    }
    const states = () => databases.map(({ status }) => status.state);
    await new Promise((resolve) => setTimeout(resolve));
    const before = states();
    await Promise.all(databases.map((db) => db.close()));
    console.log(JSON.stringify({ shown: [...new Set(shown)], before, after: states() }));
  `);
  expect(JSON.parse(stdout)).toEqual({
    shown: ['pending'],
    before: ['idle', 'idle'],
    after: ['closed', 'closed'],
  });
  expect(stderr).toBe('');
});

test('databases on a server work in memory, with one warning for each process', async () => {
  const { stdout, stderr } = await node(`
    import { Database } from 'cairndb';
    for (const name of ['one', 'two']) {
      const other = new Database({ name });
      await new other.Collection({ name: 'notes', type: 'DOCUMENT_BASED' }).insert({});
    }
    const db = new Database({ name: 'shop' });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
    const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
    const { _id } = await orders.insert({ total: 12 });
    await settings.set('theme.color', 'green');
    const { total } = await orders.get(_id);
    const { engine, started, storage } = db.status;
    console.log(JSON.stringify({ total, theme: await settings.get('theme'), engine, started, storage }));
    await db.close();
  `);
  expect(JSON.parse(stdout)).toEqual({
    total: 12,
    theme: { color: 'green' },
    engine: 'thread',
    started: 'thread',
    storage: 'memory',
  });
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^cairndb keeps data in memory only: There is no IndexedDB here\. All .* storage driver/,
    ),
  ]);
});

test('connect() on a server runs in the thread', async () => {
  const { stdout, stderr } = await node(`
    import { connect } from 'cairndb';
    const connection = connect({ name: 'shop', storage: 'memory' });
    await connection.ready;
    const { engine, started, storage } = connection.status;
    console.log(JSON.stringify({ engine, started, storage }));
    await connection.close();
  `);
  expect(JSON.parse(stdout)).toEqual({ engine: 'thread', started: 'thread', storage: 'memory' });
  expect(stderr).toBe('');
});

test('cairndb/node keeps data in files, with the package classic-level', async () => {
  symlinkSync(join(ROOT, 'node_modules/classic-level'), join(app, 'node_modules/classic-level'));
  const count = () =>
    node(`
      import { Database } from 'cairndb';
      import { files } from 'cairndb/node';
      const db = new Database({ name: 'shop', storage: files('./data') });
      const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
      await orders.insert({ total: 12 });
      console.log(JSON.stringify({ count: await orders.count(), storage: db.status.storage }));
      await db.close();
    `);
  for (const expected of [1, 2]) {
    const { stdout, stderr } = await count();
    expect(JSON.parse(stdout)).toEqual({ count: expected, storage: 'files' });
    expect(stderr).toBe('');
  }
});

test('errors of cairndb/node are of the class that cairndb exports', async () => {
  const { stdout } = await node(`
    import { OptionError } from 'cairndb';
    import { files } from 'cairndb/node';
    try {
      files('');
    } catch (error) {
      console.log(error instanceof OptionError, error.code);
    }
  `);
  expect(stdout).toBe('true option_invalid\n');
});

/** Stores, saves late and reads; never closes. */
const NEVER_CLOSES = `
  import { connect, Database } from 'cairndb';
  const databases = [Database, connect].map((make) => make === Database
    ? new Database({ name: 'a', storage: 'memory' })
    : connect({ name: 'b', storage: 'memory' }));
  for (const db of databases) {
    const orders = new db.Collection({
      name: 'orders', type: 'DOCUMENT_BASED', caching: true, auto_create_backup: true, save_timeout: 1,
    });
    const open = orders.live({ done: false });
    open.subscribe(() => undefined);
    await open.ready;
    await orders.insert({ done: false });
    orders.liveCount({}).getSnapshot();
  }
  const unsaved = () => databases.map(({ status }) => status.unsaved);
  const before = unsaved();
  process.on('exit', () => console.log(JSON.stringify({ before, after: unsaved() })));
`;

test('a program that never closes its databases ends once all changes are saved', async () => {
  const { stdout, stderr } = await run(process.execPath, ['never-closes.mjs'], app);
  expect(JSON.parse(stdout)).toEqual({ before: [1, 1], after: [0, 0] });
  expect(stderr).toBe('');
});
