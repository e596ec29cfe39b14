import { expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

const MEGABYTE = 1024 * 1024;

test('a live query that reads a document from storage meanwhile shows no half of a transaction', async () => {
  let open: () => void = () => undefined;
  let gate: Promise<void> | undefined;
  let reads = 0;
  const driver = changedDriver(memoryDriver(), (storage) => ({
    async getMany(store, keys) {
      if (store === 'segments' && keys.some(([name]) => name === 'things')) {
        reads++;
        await gate;
      }
      return storage.getMany(store, keys);
    },
  }));
  const { client, clock } = openClient(driver);
  const things = new client.Collection<{ n: number }>({
    ...{ name: 'things', type: 'DOCUMENT_BASED', caching: false },
  });
  await things.insertMany([
    { _id: 'a', n: 0 },
    { _id: 'b', n: 0 },
  ]);
  const shown: string[] = [];
  things.live({}, { throttle: 1000 }).subscribe(({ data = [] }) => {
    shown.push(data.map(({ n }) => n).join());
  });
  while (shown.at(-1) !== '0,0') await settled();
  // During the pause of the live query; its document is not in memory afterwards.
  await things.upsert({ _id: 'a', n: 1 });
  await things.save();
  const filler = new client.Collection<{ text: string }>({
    ...{ name: 'filler', type: 'DOCUMENT_BASED', caching: false },
  });
  for (let n = 0; n < 17; n++) await filler.insert({ text: 'x'.repeat(MEGABYTE) });
  await filler.save();
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const before = reads;
  await clock.advance(1000);
  while (reads === before) await settled();
  await client.transaction(async (tx) => {
    await tx(things).upsert({ _id: 'a', n: 2 });
    await tx(things).upsert({ _id: 'b', n: 2 });
  });
  gate = undefined;
  open();
  while (!shown.at(-1)?.includes('2')) await settled();
  expect(shown.filter((one) => one.includes('2'))).toEqual(['2,2']);
  await client.close();
});
