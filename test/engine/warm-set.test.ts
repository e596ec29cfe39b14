import { expect, test } from 'vitest';
import { StorageError } from '../../src/errors/errors.ts';
import { checkpointKey, directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import type { StorageKey } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

interface Person {
  n: number;
  city: string;
  pad: string;
  photo?: Blob;
}

/** A warm set as it is stored. */
interface Stored {
  readonly keys: readonly string[];
  readonly bodies: readonly string[];
}

const COUNT = 3000;
/** Ten documents, in ten segments. */
const CITY = { city: 'c7' };
const NUMBERS = [7, 307, 607, 907, 1207, 1507, 1807, 2107, 2407, 2707];
const IDS = NUMBERS.map((n) => `p${n}`);
const WARM = checkpointKey('people', 'warm');

const person = (n: number) => ({ n, city: `c${n % 300}`, pad: 'x'.repeat(300) });
const others = (name: string) =>
  Array.from({ length: 1500 }, (_, n) => ({ ...person(n), _id: `${name}${n}`, city: name }));

const isWarm = (key: StorageKey) => key[1] === 'checkpoint' && key[2] === 'warm';
const isPage = (key: StorageKey) => key[1] === 'checkpoint' && key.length > 3;

/**
 * A driver that counts the segments that are read one by one and the warm sets that are put, and
 * may fail.
 */
function watchedDriver() {
  const inner = memoryDriver();
  const seen = { segments: 0, puts: 0 };
  const fails = { reads: false, pages: false };
  const driver = changedDriver(inner, (storage) => ({
    async getMany(store, keys) {
      if (store === 'segments') seen.segments += keys.length;
      if (fails.reads && keys.some(isWarm)) throw new StorageError('storage_failed', 'No.');
      return storage.getMany(store, keys);
    },
    async write(operations, durability) {
      const list = [...operations];
      const puts = list.filter((one) => one.type === 'put');
      if (fails.pages && puts.some(({ key }) => isPage(key)))
        throw new StorageError('storage_failed', 'No.');
      seen.puts += puts.filter(({ key }) => isWarm(key)).length;
      return storage.write(list, durability);
    },
  }));
  /** Works on storage beside the engine. */
  const beside = async <T>(
    work: (storage: Awaited<ReturnType<typeof inner.open>>) => Promise<T>,
  ) => {
    const storage = await inner.open('test', { damaged: () => undefined });
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  };
  const read = async (key: StorageKey) =>
    (await beside((storage) => storage.getMany('bodies', [key])))[0] as never;
  return {
    ...{ driver, seen, fails, beside },
    warm: (): Promise<Stored | undefined> => read(WARM),
    directory: (): Promise<{ generation: number } | undefined> => read(directoryKey('people')),
  };
}

type Watched = ReturnType<typeof watchedDriver>;

function visit({ driver }: Watched, caching = false) {
  const { client, clock } = openClient(driver, undefined, 1000);
  const errors: unknown[] = [];
  client.on('error', (error) => errors.push(error));
  const people = new client.Collection<Person>({
    name: 'people',
    type: 'DOCUMENT_BASED',
    indexes: ['city'],
    caching,
  });
  const turns = async () => {
    for (let turn = 0; turn < 60; turn++) await settled();
  };
  return {
    ...{ people, client, errors },
    /** Long enough for what is written then. */
    async rest() {
      await people.ready;
      await turns();
      await clock.advance(2000);
      await turns();
    },
  };
}

/** A collection with a checkpoint. Nothing was read of it. */
async function stored(more: (n: number) => object = () => ({})): Promise<Watched> {
  const watched = watchedDriver();
  const { people, client, rest } = visit(watched);
  await people.insertMany(
    Array.from({ length: COUNT }, (_, n) => ({ _id: `p${n}`, ...person(n), ...more(n) })),
  );
  await people.save();
  await rest();
  await expect.poll(watched.directory).toBeDefined();
  await client.close();
  expect(await watched.warm()).toBeUndefined();
  return watched;
}

/**
 * Reads at once after an opening. @returns the numbers, and how many segments were read for them.
 */
async function firstRead(watched: Watched) {
  const { people, client, errors, rest } = visit(watched);
  watched.seen.segments = 0;
  const found = await people.filter(CITY);
  const { segments } = watched.seen;
  await rest();
  await client.close();
  expect(errors).toEqual([]);
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
  await people.getMany(['p2', 'none', 'p3']);
  await people.filter({ n: 5 }); // a scan: first reads have none
  await rest();
  await client.close();
  expect((await watched.warm())?.keys).toEqual([...IDS, 'p1', 'p2', 'p3']);
  const next = visit(watched);
  watched.seen.segments = 0;
  expect(await next.people.get('p1')).toMatchObject({ n: 1 });
  expect((await next.people.filter(CITY)).map(({ n }) => n)).toEqual(NUMBERS);
  expect(watched.seen.segments).toBe(0);
  await next.people.get('p5');
  expect(watched.seen.segments).toBe(1);
  await next.client.close();
});

test('changes since then count', async () => {
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

test('what is deleted leaves it, and what has moved comes back with the next checkpoint', async () => {
  const watched = await stored();
  await firstRead(watched);
  const { people, client, rest } = visit(watched);
  await people.delete('p7');
  await people.patch('p307', { pad: 'new' });
  await people.save();
  await rest();
  expect((await watched.warm())?.keys).toEqual(IDS.slice(2));
  const before = (await watched.directory())?.generation ?? 0;
  await people.insertMany(others('a'));
  await people.save();
  await rest();
  await expect.poll(watched.directory).toMatchObject({ generation: before + 1 });
  await expect.poll(async () => (await watched.warm())?.keys).toEqual(IDS.slice(1));
  await people.deleteMany({});
  await people.save();
  await rest();
  expect(
    await watched.beside((storage) => storage.keys('bodies', ['people', 'checkpoint'])),
  ).toEqual([]);
  await client.close();
});

test('documents with Blobs are left out', async () => {
  const photo = new Blob(['x']);
  const watched = await stored((n) => (n % 600 === 7 ? { photo } : {}));
  for (let visits = 0; visits < 3; visits++)
    expect((await firstRead(watched)).numbers).toEqual(NUMBERS);
  expect((await watched.warm())?.keys).toEqual(['p307', 'p907', 'p1507', 'p2107', 'p2707']);
  expect(watched.seen.puts).toBe(1);
});

test('one that is damaged, or under another key, is left out and written again', async () => {
  const watched = await stored();
  await firstRead(watched);
  const value = (await watched.warm()) as Stored;
  const bodies = value.bodies.map((body) => body.replace('"n":7,', '"n":8,'));
  expect(bodies).not.toEqual(value.bodies);
  const damaged = { type: 'put', store: 'bodies', key: WARM, value: { ...value, bodies } } as const;
  await watched.beside((storage) => storage.write([damaged], 'relaxed'));
  const { numbers, segments } = await firstRead(watched);
  expect(numbers).toEqual(NUMBERS);
  expect(segments).toBeGreaterThan(5);
  expect(await firstRead(watched)).toEqual({ numbers: NUMBERS, segments: 0 });
});

test('one that cannot be read is left out', async () => {
  const watched = await stored();
  await firstRead(watched);
  watched.fails.reads = true;
  const { numbers, segments } = await firstRead(watched);
  expect(numbers).toEqual(NUMBERS);
  expect(segments).toBe(10);
});

test('a damaged document is left out, and reported by its read alone', async () => {
  const watched = await stored();
  await watched.beside(async (storage) => {
    const keys = await storage.keys('bodies', ['people']);
    for (const key of keys.filter((one) => typeof one[1] === 'number')) {
      const [value] = (await storage.getMany('bodies', [key])) as [Stored];
      const bodies = value.bodies.map((body) => body.replace('"n":307,', '"n":308,'));
      await storage.write(
        [{ type: 'put', store: 'bodies', key, value: { ...value, bodies } }],
        'relaxed',
      );
    }
  });
  const { people, client, errors, rest } = visit(watched);
  await people.ready;
  for (const id of IDS)
    if (id === 'p307') await expect(people.get(id)).rejects.toMatchObject({ code: 'data_damaged' });
    else await people.get(id);
  const told = errors.length;
  await rest();
  await people.insert({ ...person(0), city: 'new' });
  await people.save();
  await rest();
  expect(errors).toHaveLength(told);
  expect((await watched.warm())?.keys).toEqual(IDS.filter((id) => id !== 'p307'));
  await client.close();
});

test('it is written again after a checkpoint that failed', async () => {
  const watched = await stored();
  await firstRead(watched);
  watched.fails.pages = true;
  const { people, client, rest } = visit(watched);
  await people.insertMany(others('a'));
  await people.save();
  await rest();
  watched.fails.pages = false;
  await people.insert({ ...person(0), city: 'new' });
  await people.save();
  await rest();
  await expect.poll(async () => (await watched.warm())?.keys).toEqual(IDS);
  await client.close();
  expect(await firstRead(watched)).toEqual({ numbers: NUMBERS, segments: 0 });
});

test('a restored backup leaves nothing of what it replaced', async () => {
  const watched = await stored();
  const { people, client, rest } = visit(watched);
  const backup = await people.createBackup();
  await people.insertMany(others('a'));
  await people.get('a7');
  await people.filter(CITY);
  await people.save();
  await rest();
  await expect.poll(async () => (await watched.warm())?.keys).toEqual(['a7', ...IDS]);
  await people.loadBackup(backup);
  expect(await watched.warm()).toBeUndefined();
  await rest();
  await expect.poll(async () => (await watched.warm())?.keys).toEqual(IDS);
  await client.close();
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
  const size = (await watched.warm())?.bodies.reduce((sum, { length }) => sum + length, 0) ?? 0;
  expect(size).toBeGreaterThan(200_000);
  expect(size).toBeLessThan(256 * 1024);
  await client.close();
});
