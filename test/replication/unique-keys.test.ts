import { afterEach, expect, test } from 'vitest';
import { Database, memoryDriver } from '../../src/index.ts';
import { http, type Replication, replicate } from '../../src/replication/index.ts';
import { createHandler, memory, type Store } from '../../src/server/index.ts';

interface Seat {
  place: string;
  note?: string;
}

const UNIQUE = [
  { fields: 'place', unique: true },
  { fields: 'place', unique: true, collation: { locale: 'en', strength: 2 } },
  { fields: 'place', unique: true, where: { _archived: false } },
] as const;

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A server whose pages have so many documents, and devices with this index. */
function server(index: (typeof UNIQUE)[number] = UNIQUE[0], perPage = 1000) {
  const store = memory();
  const paged: Store = {
    pull: (name, after, limit) => store.pull(name, after, Math.min(limit, perPage)),
    push: (...asked) => store.push(...asked),
    read: (...asked) => store.read(...asked),
    watch: (...asked) => store.watch(...asked),
  };
  const handler = createHandler({ store: paged, authorize: () => true, hold: 20 });
  const fetch = async (url: string, init: RequestInit) => handler(new Request(url, init));
  return () => {
    const db = new Database({ name: crypto.randomUUID(), storage: memoryDriver() });
    const seats = new db.Collection<Seat>({
      ...{ name: 'seats', type: 'DOCUMENT_BASED', indexes: [index] },
    });
    const remote = http({ url: 'https://example.com/seats', fetch: fetch as never });
    const sync: Replication = replicate(seats, { remote });
    open.push(() => db.close());
    const places = async () =>
      Object.fromEntries((await seats.filter({})).map(({ _id, place }) => [_id, place]));
    return { db, seats, sync, places };
  };
}

test.each(UNIQUE)('documents exchange keys of %j', async (index) => {
  const device = server(index);
  const [ann, ben] = [device(), device()];
  await ann.seats.insertMany([
    { _id: 'a', place: 'one' },
    { _id: 'b', place: 'two' },
    { _id: 'c', place: 'three' },
  ]);
  await ann.sync.settled();
  await ben.sync.settled();
  await ann.db.transaction(async (tx) => {
    const seats = tx(ann.seats);
    await seats.patch('a', { place: 'none' });
    await seats.delete('c');
    await seats.patch('b', { place: 'one' });
    await seats.insert({ _id: 'd', place: 'three' });
    await seats.patch('a', { place: 'two' });
  });
  await ann.sync.settled();
  await ben.sync.settled();
  const exchanged = { a: 'two', b: 'one', d: 'three' };
  expect([await ann.places(), await ben.places()]).toEqual([exchanged, exchanged]);
  await expect(ben.seats.insert({ place: 'three' })).rejects.toMatchObject({
    code: 'unique_violation',
  });
});

test('a key is taken on one page, and was freed by what comes on a later one', async () => {
  const device = server(UNIQUE[0], 2);
  const [ann, ben] = [device(), device()];
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  await ann.seats.insertMany(names.map((_id) => ({ _id, place: _id })));
  await ann.sync.settled();
  await ben.sync.settled();
  ben.sync.pause();
  await ann.seats.patch('a', { place: 'free' });
  await ann.sync.settled();
  for (const _id of ['b', 'c', 'd', 'e', 'f']) {
    await ann.seats.patch(_id, { place: _id === 'b' ? 'a' : `${_id}2` });
    await ann.sync.settled();
  }
  await ann.seats.patch('a', { note: 'again' });
  await ann.sync.settled();
  ben.sync.resume();
  await ben.sync.settled();
  expect(await ben.places()).toEqual(await ann.places());
  await ann.seats.patch('g', { place: 'b' });
  await ann.sync.settled();
  await ben.sync.settled();
  expect(await ben.places()).toMatchObject({ a: 'free', b: 'a', g: 'b' });
});

test('a key that two devices have taken stops the replication, and nothing of the page is applied', async () => {
  const device = server();
  const [ann, ben] = [device(), device()];
  await ann.seats.insert({ _id: 'a', place: 'one' });
  await ann.sync.settled();
  await ben.sync.settled();
  ben.sync.pause();
  await ben.seats.insert({ _id: 'mine', place: 'two' });
  await ann.seats.patch('a', { place: 'three' });
  await ann.seats.insert({ _id: 'b', place: 'two' });
  await ann.sync.settled();
  ben.sync.resume();
  await expect(ben.sync.settled()).rejects.toMatchObject({ code: 'unique_violation' });
  expect(await ben.places()).toEqual({ a: 'one', mine: 'two' });
  await ben.seats.patch('mine', { place: 'four' });
  ben.sync.resume();
  await ben.sync.settled();
  expect(await ben.places()).toEqual({ a: 'three', b: 'two', mine: 'four' });
});
