import { expect, test } from 'vitest';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { driverWith, numberAt, readStored, tampered } from '../backup/stored.ts';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';

const options = { name: 'things', type: 'DOCUMENT_BASED', caching: false } as const;
const damaged = { code: 'data_damaged', place: 'things' };

test('compaction leaves a damaged document, names it once, and merges the others', async () => {
  const driver = memoryDriver();
  const { client } = openClient(driver);
  const things = new client.Collection<{ pad: string }>(options);
  const pad = 'p'.repeat(30_000);
  for (const _id of ['a', 'b']) {
    await things.insert({ _id, pad });
    await things.save();
  }
  await client.close();
  const stored = await readStored(driver);
  const number = numberAt(stored, 2);
  const other = tampered(stored, 'segments', (value, key) =>
    key[1] === number ? { ...value, bodies: [value.bodies[0].replace('p', 'q')] } : value,
  );
  const again = await driverWith(other);
  const { client: second } = openClient(again);
  const said: string[] = [];
  second.on('error', ({ error }) => said.push(error.message));
  const opened = new second.Collection<{ pad: string }>(options);
  for (const _id of ['c', 'd', 'e', 'f', 'g', 'h', 'i']) {
    await opened.insert({ _id, pad });
    await opened.save();
  }
  for (let turn = 0; turn < 50; turn++) await settled();
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`Segment ${number} of collection "things" has damaged documents`);
  await expect(opened.get('b')).rejects.toMatchObject(damaged);
  await expect(opened.get('b')).rejects.toThrow('Document "b" of collection "things" is damaged');
  for (const _id of ['a', 'c', 'i']) expect(await opened.get(_id)).toMatchObject({ pad });
  const { segments } = await readStored(again);
  expect(segments.length).toBeLessThan(6);
  expect(segments.map(([key]) => key[1])).toContain(number);
  expect(await opened.verify()).toMatchObject({ whole: false, problems: [{ segment: number }] });
  // Another version of it takes its place.
  expect(await opened.upsert({ _id: 'b', pad: 'new' })).toMatchObject({ pad: 'new' });
  await second.close();
  const last = new (openClient(again).client.Collection)<{ pad: string }>(options);
  expect(await last.get('b')).toMatchObject({ pad: 'new' });
  expect(await last.count()).toBe(9);
});

test('a checkpoint with a damaged page is written anew', async () => {
  const driver = memoryDriver();
  const { client, clock } = openClient(driver, undefined, 1000);
  const things = new client.Collection<{ n: number }>(options);
  await things.insertMany(Array.from({ length: 300 }, (_, n) => ({ _id: `t${n}`, n })));
  await things.save();
  await clock.advance(2500);
  for (let turn = 0; turn < 100; turn++) await settled();
  await client.close();
  const stored = await readStored(driver);
  const isPage = (key: readonly unknown[]) => key[1] === 'checkpoint' && key.length > 3;
  const again = await driverWith(
    tampered(stored, 'bodies', (value, key) =>
      isPage(key) ? { ...value, hashes: value.hashes.with(0, 1) } : value,
    ),
  );
  const { client: second, clock: later } = openClient(again, undefined, 1000);
  const opened = new second.Collection<{ n: number }>(options);
  expect(await opened.get('t7')).toMatchObject({ n: 7 });
  await opened.ready;
  await opened.insert({ _id: 'more', n: 1 });
  await opened.save();
  await later.advance(2500);
  for (let turn = 0; turn < 100; turn++) await settled();
  const { bodies } = await readStored(again);
  const pages = bodies.filter(([key]) => isPage(key)).map(([, page]) => page.hashes);
  expect(pages.map(({ length }) => length)).toEqual([301]);
  expect(bodies.map(([key]) => key)).toContainEqual(directoryKey('things'));
});
