import { expect, test } from 'vitest';
import * as lib from '../../src/index.ts';
import { EventLog, rejection } from './outcomes.ts';

/** Two clients of one thread to one database share its engine. */
for (const caching of [false, true]) {
  test(`two clients to one database see the same data, caching: ${caching}`, async () => {
    const storage = lib.memoryDriver();
    const [one, other] = [1, 2].map(() => new lib.Database({ name: 'shop', storage })) as [
      lib.Database,
      lib.Database,
    ];
    const options = { name: 'things', type: 'DOCUMENT_BASED', caching } as const;
    const mine = new one.Collection(options);
    const theirs = new other.Collection(options);
    const log = new EventLog(theirs, 'change');
    await theirs.ready;
    await mine.insert({ _id: 'a', n: 1 });
    expect(await theirs.get('a')).toMatchObject({ n: 1 });
    await log.until((events) => events.length === 1);
    await expect(theirs.insert({ _id: 'a' })).rejects.toMatchObject({ code: 'id_taken' });
    await one.close();
    expect((await rejection(mine.count())).code).toBe('closed');
    expect(await theirs.count()).toBe(1);
    await other.close();
  });

  test(`a client cannot open a collection of another client with another type, caching: ${caching}`, async () => {
    const storage = lib.memoryDriver();
    const one = new lib.Database({ name: 'shop', storage });
    const other = new lib.Database({ name: 'shop', storage });
    const mine = new one.Collection({ name: 'things', type: 'DOCUMENT_BASED', caching });
    await mine.insert({ _id: 'a' });
    const wrong = new other.Collection({
      name: 'things',
      type: 'KEY_VALUE_BASED',
      caching,
      activate_drop_method: true,
    });
    for (const call of [
      () => wrong.ready,
      () => wrong.set('a', 1),
      () => wrong.count(),
      () => wrong.keys(),
      () => wrong.Drop(),
    ]) {
      expect((await rejection(call())).code).toBe('type_mismatch');
    }
    expect(await mine.count()).toBe(1);
    await one.close();
    await other.close();
  });
}

test('databases with different names or drivers are separate', async () => {
  const storage = lib.memoryDriver();
  const databases = [
    new lib.Database({ name: 'a', storage }),
    new lib.Database({ name: 'b', storage }),
    new lib.Database({ name: 'a', storage: lib.memoryDriver() }),
    new lib.Database({ name: 'a', storage: 'memory' }),
    new lib.Database({ name: 'a', storage: 'memory' }),
  ];
  for (const db of databases) {
    const things = new db.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
    await things.insert({ _id: 'a' });
    expect(await things.count()).toBe(1);
  }
  for (const db of databases) await db.close();
});

test('two connections of one page to one database share its engine, and close one by one', async () => {
  const name = `two connections ${Math.random()}`;
  const one = lib.connect({ name });
  const other = lib.connect({ name });
  const [mine, theirs] = [one, other].map(
    (db) => new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' }),
  ) as [lib.DocumentCollection<{ n: number }>, lib.DocumentCollection<{ n: number }>];
  const log = new EventLog(theirs, 'change');
  await theirs.ready;
  await mine.insert({ _id: 'a', n: 1 });
  await log.until((events) => events.length === 1);
  await theirs.patch('a', { $inc: { n: 1 } });
  expect(await mine.get('a')).toMatchObject({ n: 2 });
  for (const { status } of [one, other]) expect(status.leader).toBe(true);
  const { engine } = one.status;
  await one.close();
  expect((await rejection(mine.count())).code).toBe('closed');
  await theirs.insert({ _id: 'b', n: 1 });
  expect(other.status).toMatchObject({ engine, leader: true, state: 'open' });
  await other.close();
  const later = lib.connect({ name });
  const things = new later.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  expect(await things.count()).toBe(2);
  await later.close();
});
