import { expect, test } from 'vitest';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';
import { FakeClock } from './fake-clock.ts';

test('a slow estimate() tolerates segments merged meanwhile', async () => {
  const memory = memoryDriver();
  let gate: Promise<void> | undefined;
  let reached: () => void = () => undefined;
  const slow: StorageDriver = {
    kind: 'slow',
    async open(name, events) {
      const storage = await memory.open(name, events);
      const getMany: typeof storage.getMany = async (store, keys) => {
        const values = await storage.getMany(store, keys);
        // Between the listing of manifests and the reads of their segments.
        if (store === 'collections' && gate) {
          reached();
          await gate;
        }
        return values;
      };
      return Object.assign(Object.create(storage) as typeof storage, {
        getMany,
        list: storage.list.bind(storage),
        keys: storage.keys.bind(storage),
        write: storage.write.bind(storage),
        close: storage.close.bind(storage),
      });
    },
  };
  const { client } = openClient(slow);
  const things = new client.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  const saveSome = async () => {
    for (let round = 0; round < 20; round++) {
      await things.insert({ round, text: 'x'.repeat(10_000) });
      await things.save();
    }
  };
  await saveSome();
  let open: () => void = () => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const listed = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const estimate = client.storage.estimate();
  await listed;
  await things.deleteMany({});
  await saveSome();
  open();
  const { collections } = await estimate;
  expect(collections.map(({ collection }) => collection)).toEqual(['things']);
  await client.close();
});

test('estimate() says until when a collection stays cached', async () => {
  const clock = new FakeClock();
  const { client } = openClient(memoryDriver(), clock);
  const cached = { type: 'DOCUMENT_BASED', caching: true } as const;
  const kept = new client.Collection({ ...cached, name: 'kept', cache_retention_time: -1 });
  const brief = new client.Collection({ ...cached, name: 'brief', cache_retention_time: 2 });
  const none = new client.Collection({ type: 'DOCUMENT_BASED', name: 'none' });
  for (const one of [kept, brief, none]) await one.insert({});
  await client.save();
  const until = async () => {
    const { collections } = await client.storage.estimate();
    return new Map(collections.map((one) => [one.collection, one.cached_until]));
  };
  const minutes = (count: number) => new Date(clock.now() + count * 60_000);

  expect(Object.fromEntries(await until())).toEqual({
    kept: 'never',
    brief: minutes(2),
    none: undefined,
  });
  await clock.advance(90_000);
  expect((await until()).get('brief')).toEqual(minutes(0.5));
  await brief.count();
  expect((await until()).get('brief')).toEqual(minutes(2));
  await clock.advance(120_000);
  expect((await until()).get('brief')).toBe(undefined);
  await client.close();
});
