import { expect, test } from 'vitest';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';

const documents = { name: 'notes', type: 'DOCUMENT_BASED' } as const;

/** The outcome of a promise. */
const fate = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );

test('close() saves the changes of all earlier calls, awaited or not', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const notes = new client.Collection(documents);
  const calls = [notes.insert({ _id: 'a' }), notes.insert({ _id: 'b' }), notes.delete('a')];
  const closing = client.close();
  await Promise.all([...calls, closing]);
  const all = await new (openClient(driver).client.Collection)(documents).filter({});
  expect(all.map(({ _id }) => _id)).toEqual(['b']);
});

test('a call during close() always rejects', async () => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const driver = faultyDriver();
    const { client } = openClient(driver);
    const notes = new client.Collection(documents);
    await notes.insert({ _id: 'a' });
    const closing = client.close();
    for (let tick = 0; tick < ticks; tick++) await undefined;
    const late = await fate(notes.insert({ _id: 'late' }));
    await closing;
    const count = await new (openClient(driver).client.Collection)(documents).count();
    expect([ticks, late, count]).toEqual([ticks, 'closed', 1]);
  }
});

test('no sync call during close() is answered and then lost', async () => {
  const fates = new Set<string>();
  for (let ticks = 0; ticks < 40; ticks++) {
    const driver = faultyDriver();
    const { client } = openClient(driver);
    const notes = new client.Collection({ ...documents, caching: true });
    await notes.ready;
    notes.sync.insert({ _id: 'a' });
    const closing = client.close();
    for (let tick = 0; tick < ticks; tick++) await undefined;
    const late = await fate((async () => notes.sync.insert({ _id: 'late' }))());
    await closing;
    const count = await new (openClient(driver).client.Collection)(documents).count();
    expect([ticks, count]).toEqual([ticks, late === 'done' ? 2 : 1]);
    fates.add(late);
  }
  expect([...fates]).toEqual(['done', 'closed']);
});

test('close() can be called twice at once', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  await new client.Collection(documents).insert({ _id: 'a' });
  await Promise.all([client.close(), client.close()]);
  await client.close();
  expect(await new (openClient(driver).client.Collection)(documents).count()).toBe(1);
});

test('after a failed close() the client goes on working', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const notes = new client.Collection({ ...documents, caching: true });
  await notes.insert({ _id: 'a' });
  driver.inject({ call: 'write', when: 'before' });
  const both = [fate(client.close()), fate(client.close())];
  expect(await Promise.all(both)).toEqual([outage.code, outage.code]);
  await notes.ready;
  notes.sync.insert({ _id: 'b' });
  await client.close();
  expect(await new (openClient(driver).client.Collection)(documents).count()).toBe(2);
});

test('close() waits for the answers to earlier reads', async () => {
  const driver = faultyDriver();
  const first = openClient(driver);
  await new first.client.Collection(documents).insert({ _id: 'a' });
  await first.client.close();
  const { client } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.ready;
  const [get, count] = [notes.get('a'), notes.count({ _archived: false })];
  await client.close();
  expect(await get).toMatchObject({ _id: 'a' });
  expect(await count).toBe(1);
});

test('close() leaves no timer and no call running', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection({ ...documents, caching: true });
  await notes.insert({});
  expect(clock.waiting).toBeGreaterThan(0);
  await client.close();
  expect(clock.waiting).toBe(0);
});
