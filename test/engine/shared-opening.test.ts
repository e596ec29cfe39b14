import { expect, test } from 'vitest';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

const COUNT = 8000;
const options = { name: 'people', type: 'DOCUMENT_BASED' } as const;
const documents = Array.from({ length: COUNT }, (_, n) => ({
  _id: `p${n}`,
  n,
  pad: 'x'.repeat(300),
}));

/**
 * A driver with many small segments that tells what is read, and may hold back the documents of
 * segments.
 */
function watchedDriver() {
  const inner = memoryDriver();
  const seen = { lists: [] as (number | undefined)[], bodies: 0, hasCheckpoint: false };
  const held: (() => void)[] = [];
  const gate = { isShut: false };
  const driver = changedDriver(inner, (storage) => ({
    valueLimit: 2048,
    async list(store, range) {
      if (store === 'segments') seen.lists.push(range.limit);
      return storage.list(store, range);
    },
    async getMany(store, keys) {
      const ofSegments = store === 'bodies' && typeof keys[0]?.[1] === 'number';
      if (ofSegments) seen.bodies++;
      if (ofSegments && gate.isShut) await new Promise<void>((go) => held.push(go));
      return storage.getMany(store, keys);
    },
    async write(operations, durability) {
      const list = [...operations];
      await storage.write(list, durability);
      const directory = `${directoryKey('people')}`;
      seen.hasCheckpoint ||= list.some((one) => one.type === 'put' && `${one.key}` === directory);
    },
  }));
  return { driver, seen, held, gate };
}

async function filled() {
  const watched = watchedDriver();
  const { client, clock } = openClient(watched.driver, undefined, 1000);
  const people = new client.Collection<{ n: number; pad: string }>(options);
  await people.insertMany(documents);
  await people.save();
  return { ...watched, client, clock };
}

test('after a bulk insert a short rest is enough for a checkpoint', async () => {
  const { client, clock, seen } = await filled();
  // Less than the usual rest of two seconds in all.
  for (let rest = 0; rest < 4 && !seen.hasCheckpoint; rest++) {
    await clock.advance(250);
    for (let turn = 0; turn < 200 && !seen.hasCheckpoint; turn++) await settled();
  }
  expect(seen.hasCheckpoint).toBe(true);
  await client.close();
});

test('an opening reads less at once while calls read', async () => {
  const { client, driver, seen } = await filled();
  await client.close();
  seen.lists.length = 0;
  const { client: alone } = openClient(driver, undefined, 1000);
  await new alone.Collection(options).count();
  await alone.close();
  expect(Math.max(...seen.lists.slice(2).map(Number))).toBe(100);
  seen.lists.length = 0;
  const { client: shared } = openClient(driver, undefined, 1000);
  const people = new shared.Collection<{ n: number }>(options);
  let isOpen = false;
  const opened = people.count().then(() => {
    isOpen = true;
  });
  for (let n = 0; !isOpen; n++) {
    expect(await people.get(`p${n}`)).toMatchObject({ n });
    await settled();
  }
  await opened;
  expect(seen.lists.slice(2)).toContain(10);
  await shared.close();
});

test('reads do not wait for the documents that caching loads', async () => {
  const { client, driver, held, gate } = await filled();
  await client.close();
  gate.isShut = true;
  const { client: next } = openClient(driver, undefined, 1000);
  const people = new next.Collection<{ n: number }>({ ...options, caching: true });
  await people.count();
  let isReady = false;
  const ready = people.ready.then(() => {
    isReady = true;
  });
  await expect.poll(() => held.length).toBeGreaterThan(0);
  const found = people.get('p7000');
  const before = held.length;
  await expect.poll(() => held.length).toBeGreaterThan(before);
  held.at(-1)?.();
  expect(await found).toMatchObject({ n: 7000 });
  expect(isReady).toBe(false);
  gate.isShut = false;
  for (const go of held) go();
  await ready;
  await next.close();
});
