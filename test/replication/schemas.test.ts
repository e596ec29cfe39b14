import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { Database, type DocumentCollection } from '../../src/index.ts';
import { type ReplicationEvents, replicate } from '../../src/replication/index.ts';
import { MemoryRemote } from './memory-remote.ts';

const schema = z.object({ item: z.string(), count: z.number().default(1) });
type Order = z.output<typeof schema>;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function shop(remote: MemoryRemote) {
  const db = new Database({ name: crypto.randomUUID(), storage: 'memory' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', schema });
  const sync = replicate(orders as unknown as DocumentCollection<Order>, { remote });
  const invalid: ReplicationEvents['invalid'][] = [];
  sync.on('invalid', (event) => invalid.push(event));
  ends.push(async () => {
    await sync.stop();
    await db.close();
  });
  return { orders, sync, invalid, settled: () => sync.settled({ timeout: 60_000 }) };
}

test('what the server sends is stored as it is, reported where the schema refuses it, and stops nothing', async () => {
  const remote = new MemoryRemote();
  remote.write('a', { item: 'lamp', count: 1, newer: true });
  remote.write('b', { item: 5 });
  remote.write('c', { item: 'desk' });
  const { orders, sync, invalid, settled } = shop(remote);
  await settled();
  expect(invalid).toMatchObject([
    { id: 'b', error: { code: 'schema_violation', issues: [{ path: ['item'] }] } },
  ]);
  expect(await orders.filter({})).toMatchObject([
    { _id: 'a', newer: true },
    { _id: 'b', item: 5 },
    { _id: 'c', item: 'desk' },
  ]);
  expect(await orders.get('c')).not.toHaveProperty('count');
  expect(sync.status).toMatchObject({ state: 'idle', pending: 0, rejected: 0 });
  remote.edit('b', { item: 'chair' });
  await settled();
  expect(invalid).toHaveLength(1);
});

test('what is pushed has passed the schema; a merge that it refuses is reported', async () => {
  const remote = new MemoryRemote();
  remote.write('a', { item: 'lamp', count: 1 });
  const { orders, sync, invalid, settled } = shop(remote);
  await settled();
  await orders.insert({ _id: 'b', item: 'desk' });
  await expect(orders.patch('a', { count: 'x' as never })).rejects.toMatchObject({
    code: 'schema_violation',
  });
  await settled();
  expect(remote.document('b')).toMatchObject({ item: 'desk', count: 1 });
  expect(remote.document('a')).toMatchObject({ count: 1 });
  sync.pause();
  await orders.patch('a', { item: 'mine' });
  remote.edit('a', { count: 'many' });
  sync.resume();
  await settled();
  expect(await orders.get('a')).toMatchObject({ item: 'mine', count: 'many' });
  expect(invalid.map(({ id }) => id)).toContain('a');
  await expect(orders.patch('a', { item: 'other' })).rejects.toMatchObject({
    code: 'schema_violation',
    place: 'document.count',
  });
});

test('operations on documents with a schema merge, where the schema leaves their result as it is', async () => {
  const remote = new MemoryRemote();
  const shops = [shop(remote), shop(remote)] as const;
  const [one, other] = shops;
  await one.orders.insert({ _id: 'a', item: 'lamp', count: 10 });
  for (const { settled } of shops) await settled();
  for (const { sync } of shops) sync.pause();
  await one.orders.patch('a', { $inc: { count: 1 } });
  await one.orders.patchMany({}, { $inc: { count: 1 } });
  await one.orders.patchOne({ _id: 'a' }, { $inc: { count: 1 } });
  await other.orders.patch('a', { $inc: { count: -5 } });
  await expect(other.orders.patch('a', { $push: { item: 'x' } as never })).rejects.toThrow();
  for (const { sync } of shops) sync.resume();
  for (const { settled } of [...shops, ...shops]) await settled();
  for (const { orders, sync } of shops) {
    expect(await orders.get('a')).toMatchObject({ count: 8 });
    expect(sync.conflicts()).toEqual([]);
  }
});
