import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { sqlite } from '../../src/sqlite/index.ts';
import { bridge, openSqlite } from './bridge.ts';

/** What Hermes lacks, or has in part. */
const LACKING = [
  ...['Worker', 'SharedWorker', 'BroadcastChannel', 'MessageChannel', 'structuredClone'],
  ...['indexedDB', 'navigator', 'CompressionStream', 'DecompressionStream'],
  ...['ReadableStream', 'TransformStream', 'FinalizationRegistry', 'WebAssembly', 'localStorage'],
];

/** Takes globals away, or replaces them, until the test ends. */
function strip(replaced: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(replaced)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    if (before) onTestFinished(() => void Object.defineProperty(globalThis, name, before));
    else onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
    Reflect.deleteProperty(globalThis, name);
    if (value) Object.defineProperty(globalThis, name, { value, configurable: true });
  }
}

test('Database runs without the globals of browsers, but for random values', async () => {
  const driver = bridge(await openSqlite());
  const { getRandomValues } = crypto;
  const only = { getRandomValues: getRandomValues.bind(crypto) };
  strip({ ...Object.fromEntries(LACKING.map((name) => [name, undefined])), crypto: only });
  const open = () => {
    const db = new Database({ name: 'shop', storage: sqlite(driver) });
    const orders = new db.Collection<{ item: string; price: number; at: Date }>({
      name: 'orders',
      type: 'DOCUMENT_BASED',
      indexes: ['price'],
    });
    return { db, orders };
  };
  const { db, orders } = open();
  const cheap = orders.live({ price: { $lt: 10 } }, { sort: { price: 1 } });
  const seen: number[] = [];
  cheap.subscribe(({ data }) => data && seen.push(data.length));
  await cheap.ready;
  await orders.insertMany([
    { _id: 'a', item: 'pen', price: 2, at: new Date(0) },
    { _id: 'b', item: 'lamp', price: 40, at: new Date(1) },
  ]);
  await db.transaction(async (tx) => {
    const pen = await tx(orders).get('a');
    await tx(orders).patch('b', { price: (pen?.price ?? 0) * 3 });
  });
  await expect.poll(() => seen.at(-1)).toBe(2);
  const backup = await orders.createBackup();
  await orders.patch('a', { $inc: { price: 1 } });
  await orders.loadBackup(backup);
  await db.close();
  const later = open();
  expect(await later.orders.filter({ price: { $lte: 6 } }, { select: ['price', 'at'] })).toEqual([
    { _id: 'a', price: 2, at: new Date(0) },
    { _id: 'b', price: 6, at: new Date(1) },
  ]);
  expect(later.db.status).toMatchObject({ storage: 'sqlite', engine: 'thread' });
  await later.db.close();
});
