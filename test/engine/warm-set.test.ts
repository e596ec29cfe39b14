import { expect, test } from 'vitest';
import { checkpointKey, directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import type { Storage, StorageDriver, StorageKey } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { passOn } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

interface Person {
  n: number;
  city: string;
  pad: string;
}

const COUNT = 3000;
/** Ten documents, in ten segments. */
const CITY = { city: 'c7' };
const NUMBERS = [7, 307, 607, 907, 1207, 1507, 1807, 2107, 2407, 2707];

/** A driver that notes which segments are read one by one, and how large the warm set is that is put. */
function watchedDriver() {
  const inner = memoryDriver();
  let opened: Storage | undefined;
  const seen = { segments: 0, puts: 0 };
  const driver: StorageDriver = {
    ...inner,
    async open(name, events) {
      const storage = await inner.open(name, events);
      opened = storage;
      return {
        ...passOn(storage),
        getMany(store, keys) {
          if (store === 'segments') seen.segments += keys.length;
          return storage.getMany(store, keys);
        },
        write(operations, durability) {
          const list = [...operations];
          for (const one of list) if (one.type === 'put' && isWarm(one.key)) seen.puts++;
          return storage.write(list, durability);
        },
      };
    },
  };
  return { driver, seen, storage: () => opened as Storage };
}

const isWarm = (key: StorageKey) => key[1] === 'checkpoint' && key[2] === 'warm';

type Watched = ReturnType<typeof watchedDriver>;

function visit({ driver }: Watched, caching = false) {
  const { client, clock } = openClient(driver, undefined, 1000);
  const people = new client.Collection<Person>({
    name: 'people',
    type: 'DOCUMENT_BASED',
    indexes: ['city'],
    caching,
  });
  return {
    people,
    client,
    /** Long enough for what is written then. */
    async rest() {
      await people.ready;
      for (let turn = 0; turn < 60; turn++) await settled();
      await clock.advance(2000);
      for (let turn = 0; turn < 60; turn++) await settled();
    },
  };
}

/** A collection with a checkpoint, of which nothing was read. */
async function stored(): Promise<Watched> {
  const watched = watchedDriver();
  const { people, client, rest } = visit(watched);
  const pad = 'x'.repeat(300);
  await people.insertMany(
    Array.from({ length: COUNT }, (_, n) => ({ _id: `p${n}`, n, city: `c${n % 300}`, pad })),
  );
  await people.save();
  await rest();
  await expect
    .poll(async () => (await watched.storage().getMany('bodies', [directoryKey('people')]))[0])
    .toBeDefined();
  await client.close();
  expect(watched.seen.puts).toBe(0);
  return watched;
}

/** Reads at once after an opening. @returns the numbers, and how many segments were read for them. */
async function firstRead(watched: Watched) {
  const { people, client, rest } = visit(watched);
  watched.seen.segments = 0;
  const found = await people.filter(CITY);
  const { segments } = watched.seen;
  await rest();
  await client.close();
  return { numbers: found.map(({ n }) => n), segments };
}

test('what a visit read first needs no segments in the next one', async () => {
  const watched = await stored();
  const cold = await firstRead(watched);
  expect(cold.numbers).toEqual(NUMBERS);
  expect(cold.segments).toBeGreaterThan(5);
  expect(await firstRead(watched)).toEqual({ numbers: NUMBERS, segments: 0 });
  expect(await firstRead(watched)).toEqual({ numbers: NUMBERS, segments: 0 });
  expect(watched.seen.puts).toBe(1);
});

test('reads of an open collection count, too, by index and by id', async () => {
  const watched = await stored();
  const { people, client, rest } = visit(watched, true);
  await people.ready;
  await people.filter(CITY);
  await people.get('p1');
  await people.filter({ n: 5 }); // a scan: first reads have none
  await rest();
  await client.close();
  const next = visit(watched);
  watched.seen.segments = 0;
  expect(await next.people.get('p1')).toMatchObject({ n: 1 });
  expect((await next.people.filter(CITY)).map(({ n }) => n)).toEqual(NUMBERS);
  expect(watched.seen.segments).toBe(0);
  await next.people.get('p5');
  expect(watched.seen.segments).toBe(1);
  await next.client.close();
});

test('changes and deletions since count', async () => {
  const watched = await stored();
  await firstRead(watched);
  const { people, client } = visit(watched);
  await people.delete('p7');
  await people.patch('p307', { pad: 'new' });
  await people.patch('p607', { city: 'elsewhere' });
  await people.archive('p907');
  await client.close();
  const next = visit(watched);
  const found = await next.people.filter(CITY);
  expect(found.map(({ n }) => n)).toEqual([307, 1207, 1507, 1807, 2107, 2407, 2707]);
  expect(found[0]?.pad).toBe('new');
  await next.client.close();
});

test('one that is damaged, or under another key, is left out and written again', async () => {
  const watched = await stored();
  await firstRead(watched);
  const key = checkpointKey('people', 'warm');
  const storage = await watched.driver.open('test', { damaged: () => undefined });
  const [value] = (await storage.getMany('bodies', [key])) as [{ bodies: string[] }];
  const bodies = value.bodies.map((body) => body.replace('"n":7,', '"n":8,'));
  expect(bodies).not.toEqual(value.bodies);
  await storage.write(
    [{ type: 'put', store: 'bodies', key, value: { ...value, bodies } }],
    'relaxed',
  );
  await storage.close();
  const { numbers, segments } = await firstRead(watched);
  expect(numbers).toEqual(NUMBERS);
  expect(segments).toBeGreaterThan(5);
  expect(await firstRead(watched)).toEqual({ numbers: NUMBERS, segments: 0 });
});

test('it is written again once a quarter is new, and has room for 1,024 documents', async () => {
  const watched = await stored();
  const { people, client, rest } = visit(watched);
  await people.ready;
  for (const city of ['c1', 'c2', 'c3', 'c4']) {
    await people.filter({ city });
    await rest();
  }
  expect(watched.seen.puts).toBe(4);
  await people.get('p9');
  await rest();
  expect(watched.seen.puts).toBe(4);
  for (let n = 10; n < 300; n++) await people.filter({ city: `c${n}` });
  await rest();
  expect(watched.seen.puts).toBe(5);
  await client.close();
});
