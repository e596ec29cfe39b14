import { expect, test } from 'vitest';
import type { Request } from '../../src/protocol/requests.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { ask, join, NOTES, takeOver, VALUES } from './successive-engines.ts';

const documents = {
  name: 'notes',
  type: 'DOCUMENT_BASED',
  activate_drop_method: true,
} as const;

/** All keys in storage. */
async function stored(driver: ReturnType<typeof faultyDriver>): Promise<unknown[]> {
  const storage = await driver.open('test', { damaged: () => undefined });
  const stores = ['collections', 'segments'] as const;
  const lists = stores.map((store) => storage.list(store, { prefix: [], limit: 99 }));
  return (await Promise.all(lists)).flat();
}

test('a drop during a save or a compaction leaves only a tombstone in storage', async () => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const driver = faultyDriver(memoryDriver(), ticks % 2 === 0);
    const { client } = openClient(driver);
    const notes = new client.Collection<{ pad: string }>({ ...documents, save_directly_after: 1 });
    await notes.insert({ pad: 'a'.repeat(60_000) });
    await notes.save();
    // This save is followed by a compaction.
    await notes.insert({ pad: 'b'.repeat(60_000) });
    for (let tick = 0; tick < ticks; tick++) await (ticks % 4 ? undefined : settled());
    void notes.insert({ pad: 'c' });
    const saved = [notes.save(), client.save()];
    const dropped = notes.Drop();
    const late = client.save();
    expect(await dropped).toBe(true);
    await Promise.all([...saved, late]);
    await settled();
    // Its watermarks stay, for pages that are frozen meanwhile.
    const tombstone = [{ dropped: true, segments: [] }];
    expect([ticks, await stored(driver)]).toMatchObject([ticks, tombstone]);
    await client.close();
    expect([ticks, await stored(driver)]).toMatchObject([ticks, tombstone]);
  }
});

test('a collection constructed again during its drop starts empty', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.insert({ _id: 'old' });
  const dropped = notes.Drop();
  const again = new client.Collection(documents);
  const inserted = again.insert({ _id: 'new' });
  expect(await dropped).toBe(true);
  expect(await inserted).toMatchObject({ _id: 'new' });
  expect(await again.filter({})).toHaveLength(1);
  await expect(notes.count()).rejects.toMatchObject({ code: 'collection_dropped' });
  await client.close();
  const reopened = new (openClient(driver).client.Collection)(documents);
  expect((await reopened.filter({})).map(({ _id }) => _id)).toEqual(['new']);
});

test('a failed drop keeps the collection, unsaved changes included', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.insert({ _id: 'saved' });
  await notes.save();
  await notes.insert({ _id: 'unsaved' });
  driver.inject({ call: 'write', when: 'before' });
  await expect(notes.Drop()).rejects.toBe(outage);
  expect(await notes.count()).toBe(2);
  await clock.advance(60_000);
  expect(client.status.unsaved).toBe(0);
  driver.crash();
  expect(await new (openClient(driver).client.Collection)(documents).count()).toBe(2);
});

test('a failed drop loses nothing when the collection is constructed again meanwhile', async () => {
  const driver = faultyDriver();
  const { client, clock } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.insert({ _id: 'saved' });
  await notes.save();
  await notes.insert({ _id: 'unsaved' });
  driver.inject({ call: 'write', when: 'before' });
  const dropped = notes.Drop();
  const again = new client.Collection(documents);
  const inserted = again.insert({ _id: 'into the new one' });
  await expect(dropped).rejects.toBe(outage);
  await expect(inserted).rejects.toBe(outage);
  await notes.insert({ _id: 'into the old one' });
  await clock.advance(60_000);
  await client.close();
  const reopened = new (openClient(driver).client.Collection)(documents);
  expect(await reopened.count()).toBe(3);
});

test('a drop stored but reported as failed does not delete later saves', async () => {
  const driver = faultyDriver();
  const { client } = openClient(driver);
  const notes = new client.Collection(documents);
  await notes.insert({ _id: 'before' });
  await notes.save();
  driver.inject({ call: 'write', when: 'after' });
  // Drop() reads storage and finds that it succeeded.
  expect(await notes.Drop()).toBe(true);
  await new client.Collection(documents).insert({ _id: 'after' });
  await client.close();
  const reopened = new (openClient(driver).client.Collection)(documents);
  expect(await reopened.get('after')).toMatchObject({ _id: 'after' });
});

test.each([false, true])('a drop waits for earlier reads, caching: %s', async (caching) => {
  const driver = faultyDriver(memoryDriver(), true);
  const options = { ...documents, caching };
  const { client } = openClient(driver);
  const pad = 'p'.repeat(1000);
  await new client.Collection<{ pad: string }>(options).insertMany(
    Array.from({ length: 1000 }, () => ({ pad })),
  );
  await client.close();
  const again = openClient(driver).client;
  const notes = new again.Collection<{ pad: string }>(options);
  await notes.count();
  const asked = [notes.count({ pad }), notes.filter({}, { sort: { pad: 1 } })] as const;
  expect(await notes.Drop()).toBe(true);
  expect(await asked[0]).toBe(1000);
  expect(await asked[1]).toHaveLength(1000);
  await again.close();
});

test.each(['before', 'after'] as const)(
  'save() during a drop that fails %s its write has saved what was there, or rejects',
  async (when) => {
    const driver = faultyDriver(memoryDriver(), true);
    const { client } = openClient(driver);
    const notes = new client.Collection<{ n: number }>(documents);
    await notes.ready;
    await notes.insert({ _id: 'a', n: 1 });
    driver.inject({ call: 'write', when, times: 1 });
    driver.inject({ call: 'getMany', when, times: 9 });
    const dropping = notes.Drop().then(
      () => 'dropped',
      () => 'failed',
    );
    const saving = client.save();
    expect(client.status.unsaved).toBe(1);
    const dropped = await dropping;
    driver.heal();
    await saving;
    // The process ends here.
    driver.crash();
    const reopened = new (openClient(driver).client.Collection)<{ n: number }>(documents);
    expect([dropped, await reopened.count()]).toEqual(['failed', 1]);
  },
);

test('a transaction that has read a collection whose drop fails waits for its save', async () => {
  const driver = faultyDriver(memoryDriver(), true);
  const engine = await takeOver(driver, new FakeClock());
  const { session } = join(engine, 'a');
  const other = join(engine, 'b').session;
  await session.save();
  await other.execute([{ op: 'kvSet', handle: VALUES, key: 'k', body: '1' }], [[VALUES, 1]]);
  const insert = { op: 'insert', handle: NOTES, id: 'x', body: '{}' } as const;
  await ask(session, { ...insert, transaction: 1 });
  await ask(session, { op: 'kvGet', handle: VALUES, key: 'k', transaction: 1 });
  driver.inject({ call: 'write', when: 'before' });
  const before = driver.calls.write;
  const dropped = ask(other, { op: 'drop', handle: VALUES, backup: false });
  const refused = expect(dropped).rejects.toBe(outage);
  while (driver.calls.write === before) await settled();
  const numbers: [number, number][] = [[NOTES, 1]];
  const commit = { op: 'commit', handle: 0, transaction: 1, changes: [], numbers } as const;
  expect(await ask(session, commit)).toBe('committed');
  // Without what it has read it must not be stored.
  driver.crash();
  await refused;
  const next = join(await takeOver(driver, new FakeClock()), 'c').session;
  expect(await ask(next, { op: 'count', handle: NOTES } as Request)).toBe(1);
  expect(await ask(next, { op: 'kvGet', handle: VALUES, key: 'k' })).toMatchObject({ body: '1' });
});
