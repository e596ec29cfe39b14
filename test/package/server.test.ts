import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder } from '../../tools/browsers/child.mjs';
import { makeApp } from './consumers.ts';
import { run } from './tarball.ts';

let app: string;

beforeAll(async () => {
  app = await makeApp({});
});

afterAll(() => {
  if (app) removeFolder(app);
});

const node = (script: string) =>
  run(process.execPath, ['--input-type=module', '--eval', script], app);

test('importing the package on a server does nothing and says nothing', async () => {
  expect(await node("await import('cairndb')")).toEqual({ stdout: '', stderr: '' });
});

test('neither importing nor constructing touches what a browser has', async () => {
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

test('a Database works in memory there and says so, once', async () => {
  const { stdout, stderr } = await node(`
    import { Database } from 'cairndb';
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
    expect.stringMatching(/^cairndb keeps its data in memory only/),
  ]);
});

test('connect() runs in the thread there and says so', async () => {
  const { stdout, stderr } = await node(`
    import { connect } from 'cairndb';
    const connection = connect({ name: 'shop' });
    await connection.ready;
    const { engine, started, storage } = connection.status;
    console.log(JSON.stringify({ engine, started, storage }));
    await connection.close();
  `);
  expect(JSON.parse(stdout)).toEqual({ engine: 'thread', started: 'thread', storage: 'memory' });
  expect(stderr.trim().split('\n').sort()).toEqual([
    expect.stringMatching(/^cairndb keeps its data in memory only/),
    expect.stringMatching(/^cairndb runs in this thread, .*no workers here/),
  ]);
});

test('a program that never closes its database still ends by itself', async () => {
  const { stderr } = await node(`
    import { Database } from 'cairndb';
    const db = new Database({ name: 'shop', storage: 'memory' });
    const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', caching: true });
    await orders.insert({ total: 12 });
  `);
  expect(stderr).toBe('');
});
