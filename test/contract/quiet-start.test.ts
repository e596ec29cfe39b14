import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { DatabaseClient } from '../../src/cairndb.ts';
import { rejection } from './outcomes.ts';

/** Globals that servers lack. */
const GLOBALS = ['indexedDB', 'Worker', 'navigator', 'window'];

let lib: typeof import('../../src/cairndb.ts');

/** Loaded anew: the library warns once in a process, which test files share. */
beforeEach(async () => {
  vi.resetModules();
  lib = await import('../../src/cairndb.ts');
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('no constructor touches browser globals', async () => {
  const touched: string[] = [];
  const before = GLOBALS.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  GLOBALS.forEach((name, at) => {
    // `window` cannot be redefined in a browser.
    if (before[at]?.configurable === false) return;
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => void touched.push(name),
    });
  });
  const name = `quiet ${Math.random()}`;
  let clients: DatabaseClient[];
  try {
    clients = [new lib.Database({ name }), lib.connect({ name: `${name} too` })];
    for (const client of clients) {
      new client.Collection({ name: 'a', type: 'DOCUMENT_BASED', caching: true });
      new client.Collection({ name: 'b', type: 'KEY_VALUE_BASED' });
      client.on('status', () => undefined);
      expect(client.status.state).toBe('idle');
    }
  } finally {
    GLOBALS.forEach((global, at) => {
      const descriptor = before[at];
      if (descriptor) Object.defineProperty(globalThis, global, descriptor);
      else Reflect.deleteProperty(globalThis, global);
    });
  }
  expect(touched).toEqual([]);
  for (const client of clients) await client.close();
});

test('without IndexedDB data is in memory, and the status says so', async () => {
  vi.stubGlobal('indexedDB', undefined);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const db = new lib.Database({ name: 'server' });
  const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insert({ n: 1 });
  expect(await things.find({ n: 1 })).toMatchObject({ n: 1 });
  expect(db.status).toMatchObject({ engine: 'thread', started: 'thread', storage: 'memory' });
  expect(warn.mock.calls.length).toBe(1);
  expect(String(warn.mock.calls[0]?.[0]).includes('memory')).toBe(true);
  await db.close();
});

test('without IndexedDB every call rejects if storage: indexeddb is required', async () => {
  vi.stubGlobal('indexedDB', undefined);
  const db = new lib.Database({ name: 'server', storage: 'indexeddb' });
  const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  for (const call of [() => things.insert({}), () => things.ready, () => db.ready]) {
    const error = await rejection(call());
    expect(error instanceof lib.StorageError).toBe(true);
    expect(error.code).toBe('storage_unavailable');
  }
  await db.close();
});

test('a given worker that does not start rejects every call', async () => {
  const connection = lib.connect({
    name: 'no worker',
    worker: () => {
      throw new Error('none today');
    },
  });
  const things = new connection.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  for (const call of [() => things.insert({}), () => things.ready, () => connection.ready]) {
    const error = await rejection(call());
    expect(error instanceof lib.WorkerError).toBe(true);
    expect(error.code).toBe('worker_start_failed');
  }
  expect(connection.status.state).toBe('failed');
  await connection.close();
});

test('detailed_debugger_logs prints calls and events of the collection', async () => {
  const debug = vi.spyOn(console, 'debug').mockImplementation(() => undefined);
  const db = new lib.Database({ name: 'a', storage: 'memory' });
  const quiet = new db.Collection({ name: 'quiet', type: 'DOCUMENT_BASED' });
  await quiet.insert({});
  await quiet.save();
  expect(debug.mock.calls.length).toBe(0);
  const loud = new db.Collection({
    name: 'loud',
    type: 'DOCUMENT_BASED',
    detailed_debugger_logs: true,
  });
  await loud.insert({});
  await loud.save();
  const printed = () => debug.mock.calls.map(([text]) => String(text).replace(/[\d.]+ ms/, 'ms'));
  // The printing loads with the first collection that asks for it.
  await expect
    .poll(printed)
    .toEqual(
      expect.arrayContaining(['cairndb: loud insert ms, 1 item', 'cairndb: loud saved 1 changes']),
    );
  expect(debug.mock.calls.every(([text]) => String(text).includes('loud'))).toBe(true);
  await db.close();
});
