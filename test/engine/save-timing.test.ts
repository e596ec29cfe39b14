import { expect, test } from 'vitest';
import type { EventMap } from '../../src/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';
import { LiveSession } from './live-session.ts';

/** A collection, and the times at which it is saved in milliseconds since the test began. */
async function opened(options: { save_timeout?: number } = {}) {
  const { client, clock } = openClient(memoryDriver());
  const things = new client.Collection<object>({
    name: 'things',
    type: 'DOCUMENT_BASED',
    save_directly_after: 1000,
    ...options,
  });
  await things.ready;
  const begin = clock.now();
  const saves: [ms: number, changes: number][] = [];
  things.on('save', ({ changes }: EventMap['save']) => saves.push([clock.now() - begin, changes]));
  return { client, clock, things, saves };
}

test('by default, a change after a pause is saved at once', async () => {
  const { client, clock, things, saves } = await opened();
  await things.insert({});
  await clock.advance(0);
  await settled();
  expect(saves).toEqual([[0, 1]]);
  await client.close();
});

test('by default, the next four changes after a pause are each saved at once', async () => {
  const { client, clock, things, saves } = await opened();
  for (let n = 0; n < 4; n++) {
    await things.insert({});
    await clock.advance(10);
  }
  expect(saves).toEqual([
    [0, 1],
    [10, 1],
    [20, 1],
    [30, 1],
  ]);
  await client.close();
});

test('by default, steady changes are saved four times a second', async () => {
  const { client, clock, things, saves } = await opened();
  for (let n = 0; n < 500; n++) {
    await things.insert({});
    await clock.advance(10);
  }
  await clock.advance(250);
  expect(saves.length).toBe(4 + 4 * 5);
  expect(saves.reduce((sum, [, changes]) => sum + changes, 0)).toBe(500);
  const gaps = saves.slice(5).map(([ms], index) => ms - (saves[index + 4]?.[0] as number));
  expect(new Set(gaps)).toEqual(new Set([250]));
  await client.close();
});

test('by default, a change after a large save is saved at once', async () => {
  const { client, clock, things, saves } = await opened();
  await things.insertMany(Array.from({ length: 1000 }, () => ({})));
  await settled();
  await things.insert({});
  await clock.advance(0);
  await settled();
  expect(saves).toEqual([
    [0, 1000],
    [0, 1],
  ]);
  await client.close();
});

test('save_timeout: 1 saves a change one second later', async () => {
  const { client, clock, things, saves } = await opened({ save_timeout: 1 });
  await things.insert({});
  await clock.advance(999);
  expect(saves).toEqual([]);
  await clock.advance(1);
  expect(saves).toEqual([[1000, 1]]);
  await client.close();
});

test('save_timeout sets the delay', async () => {
  const { client, clock, things, saves } = await opened({ save_timeout: 30 });
  await things.insert({});
  await clock.advance(29_999);
  expect(saves).toEqual([]);
  await clock.advance(1);
  expect(saves).toEqual([[30_000, 1]]);
  await client.close();
});

test('save_timeout: 0 saves without delay', async () => {
  const { client, clock, things, saves } = await opened({ save_timeout: 0 });
  await things.insert({});
  await clock.advance(0);
  await settled();
  expect(saves).toEqual([[0, 1]]);
  await client.close();
});

test('the delay counts from the first unsaved change after each save', async () => {
  const { client, clock, things, saves } = await opened({ save_timeout: 1 });
  for (let n = 0; n < 25; n++) {
    await things.insert({});
    await clock.advance(100);
  }
  expect(saves).toEqual([
    [1000, 10],
    [2000, 10],
  ]);
  await client.close();
});

test('an early save waits until its change is answered and live news are acknowledged', async () => {
  const opened = await LiveSession.open();
  const { session, collection, clock } = opened;
  await opened.live(1, { kind: 'list', archived: false });
  const insert = session.execute([{ op: 'insert', handle: 1, id: 'a', body: '{}' }]);
  await clock.advance(100);
  await settled();
  expect(collection.records.unsaved).toBe(1);
  await opened.ask({ op: 'liveNext', live: 1 });
  await insert;
  await clock.advance(0);
  await settled();
  expect(collection.records.unsaved).toBe(0);
});

test('a client that never acknowledges live news delays a save by save_timeout at most', async () => {
  const opened = await LiveSession.open({ save_timeout: 1 });
  await opened.live(1, { kind: 'list', archived: false });
  const insert = opened.session.execute([{ op: 'insert', handle: 1, id: 'a', body: '{}' }]);
  await opened.clock.advance(1000);
  await settled();
  expect(opened.collection.records.unsaved).toBe(0);
  await opened.ask({ op: 'liveNext', live: 1 });
  await insert;
});

test('calls beside a save() that nobody awaits do not wait for the disk', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const driver = faultyDriver();
  const slow: StorageDriver = {
    ...driver,
    open: async (...given) => {
      const storage = await driver.open(...given);
      const write: typeof storage.write = async (...asked) => {
        await held;
        return storage.write(...asked);
      };
      return { ...storage, write };
    },
  };
  const { client } = openClient(slow);
  const [a, b] = ['a', 'b'].map(
    (name) => new client.Collection<object>({ name, type: 'DOCUMENT_BASED', save_timeout: 60 }),
  );
  if (!a || !b) return;
  await Promise.all([a.ready, b.ready]);
  await a.insert({ _id: 'x' });
  let isSaved = false;
  const saving = a.save().then(() => {
    isSaved = true;
  });
  const made = b.insert({ _id: 'y' });
  expect([await a.count(), (await made)._id, (await b.get('y'))?._id]).toEqual([1, 'y', 'y']);
  expect(isSaved).toBe(false);
  release();
  await saving;
  await client.close();
});
