import { expect, onTestFinished, test } from 'vitest';
import type { BaseClient } from '../../src/page/client/base-client.ts';
import { directoryKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
import type { Storage } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { changedDriver } from '../storage/pass-on.ts';
import { openClient } from './engine-client.ts';
import { settled } from './fake-clock.ts';

interface Person {
  n: number;
  city: string;
  pad: string;
}

const options = {
  name: 'people',
  type: 'DOCUMENT_BASED',
  indexes: ['city', { fields: ['city', 'n'] }, { fields: ['n'], unique: true }],
} as const;

const COUNT = 3000;

/** A driver that holds back the reading of all segments until it is opened. */
function gatedDriver() {
  const inner = memoryDriver();
  let open: () => void = () => undefined;
  let gate: Promise<void> | undefined;
  let opened: Storage | undefined;
  const driver = changedDriver(inner, (storage) => {
    opened = storage;
    return {
      async list(store, range) {
        const isOpening = store === 'segments' && (range.after?.[1] === 0 || range.limit === 100);
        const found = storage.list(store, range);
        if (isOpening) await gate;
        return found;
      },
    };
  });
  return {
    driver,
    shut() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => open(),
    /** Resolves when the collection has a checkpoint. */
    async checkpoint() {
      for (;;) {
        const [found] = (await opened?.getMany('bodies', [directoryKey('people')])) ?? [];
        if (found) return;
        await settled();
      }
    },
  };
}

/** A collection with a checkpoint, behind a gate. */
async function stored() {
  const gated = gatedDriver();
  const { client, clock } = openClient(gated.driver, undefined, 1000);
  const people = new client.Collection<Person>(options);
  const pad = 'x'.repeat(300);
  await people.insertMany(
    Array.from({ length: COUNT }, (_, n) => ({ _id: `p${n}`, n, city: `c${n % 300}`, pad })),
  );
  await people.save();
  await clock.advance(2000);
  await gated.checkpoint();
  return { gated, client, clock, people };
}

/** Opens the collection again, behind the gate. */
async function reopen(client: BaseClient, gated: ReturnType<typeof gatedDriver>) {
  await client.close();
  gated.shut();
  const { client: next } = openClient(gated.driver, undefined, 1000);
  return { next, people: new next.Collection<Person>(options) };
}

test('reads by id and by index are answered before all segments are read', async () => {
  const { gated, client } = await stored();
  const { next, people } = await reopen(client, gated);
  expect(await people.get('p77')).toMatchObject({ _id: 'p77', n: 77 });
  expect(await people.get('none')).toBeUndefined();
  const found = await people.filter({ city: 'c7' });
  expect(found.map(({ n }) => n)).toEqual([7, 307, 607, 907, 1207, 1507, 1807, 2107, 2407, 2707]);
  expect(await people.count({ n: { $gte: 100, $lt: 110 } })).toBe(10);
  expect(await people.filter({ n: { $gt: 2990 } }, { sort: { n: -1 }, limit: 2 })).toMatchObject([
    { n: 2999 },
    { n: 2998 },
  ]);
  // What needs more than a few pages waits, and nothing behind it does: not even a call of the same
  // moment.
  let ended = 0;
  const end = () => ended++;
  const all = people.filter({});
  const { ready } = people;
  all.then(end);
  ready.then(end);
  expect(await people.get('p78')).toMatchObject({ n: 78 });
  expect(ended).toBe(0);
  gated.open();
  expect(await all).toHaveLength(COUNT);
  await ready;
  await next.close();
});

test('reads that have read as much as the opening does wait for it', async () => {
  const { gated, client } = await stored();
  const { next, people } = await reopen(client, gated);
  // Each reads the ten documents of a city, in as many segments.
  const found: Person[][] = [];
  const READS = 30;
  const reading = (async () => {
    for (let n = 0; n < READS; n++) found.push(await people.filter({ city: `c${n}` }));
  })();
  for (let turn = 0; turn < 1000; turn++) await settled();
  expect(found.length).toBeGreaterThan(3);
  expect(found.length).toBeLessThan(READS / 2);
  gated.open();
  await reading;
  for (const [n, people] of found.entries())
    expect(people.map((person) => person.n)).toEqual(
      Array.from({ length: 10 }, (_, index) => n + index * 300),
    );
  await next.close();
});

test('newer segments win over the checkpoint', async () => {
  const { gated, client, people } = await stored();
  await people.delete('p7');
  await people.patch('p307', { city: 'elsewhere' });
  await people.patch('p8', { city: 'c7' });
  await people.insert({ _id: 'new', n: COUNT, city: 'c7', pad: '' });
  await people.archive('p607');
  await people.save();
  const { next, people: again } = await reopen(client, gated);
  const found = await again.filter({ city: 'c7' });
  expect(found.map(({ n }) => n)).toEqual([8, 907, 1207, 1507, 1807, 2107, 2407, 2707, COUNT]);
  expect(await again.filter({ city: 'c7' }, { archived: 'only' })).toMatchObject([{ n: 607 }]);
  expect(await again.get('p7')).toBeUndefined();
  gated.open();
  await next.close();
});

test('a collection that never rests has a checkpoint after half a minute', async () => {
  const gated = gatedDriver();
  const { client, clock } = openClient(gated.driver, undefined, 1000);
  const people = new client.Collection<Person>(options);
  const pad = 'x'.repeat(300);
  for (let n = 0; n < 40; n++) {
    await people.insert({ _id: `p${n}`, n, city: 'c7', pad });
    await people.save();
    await clock.advance(1000);
  }
  await gated.checkpoint();
  const { next, people: again } = await reopen(client, gated);
  expect(await again.count({ city: 'c7' })).toBe(40);
  gated.open();
  await next.close();
});

test('an opening that is under way pauses for reads', async () => {
  const inner = memoryDriver();
  /** Reads of segments behind the first ones, until they go on. */
  const held: (() => void)[] = [];
  let mayGoOn = true;
  const driver = changedDriver(inner, (storage) => {
    const pass = () => (mayGoOn ? undefined : new Promise<void>((go) => held.push(go)));
    const isLater = (store: string, { limit }: { limit?: number }) =>
      store === 'segments' && limit === 100;
    return {
      valueLimit: 2048, // many segments
      async getMany(store, keys) {
        if (keys[0]?.[1] === 'checkpoint' && keys[0].length > 3) await pass();
        return storage.getMany(store, keys);
      },
      async list(store, range) {
        if (isLater(store, range)) await pass();
        return storage.list(store, range);
      },
    };
  });
  const { client, clock } = openClient(driver, undefined, 1000);
  const people = new client.Collection<Person>(options);
  const pad = 'x'.repeat(300);
  await people.insertMany(
    Array.from({ length: 8000 }, (_, n) => ({ _id: `p${n}`, n, city: 'c7', pad })),
  );
  await people.save();
  await clock.advance(2000);
  for (let turn = 0; turn < 100; turn++) await settled();
  await client.close();
  mayGoOn = false;
  const { client: next } = openClient(driver, undefined, 1000);
  const again = new next.Collection<Person>(options);
  await expect.poll(() => held.length).toBe(1); // segments
  const found = again.get('p77');
  await expect.poll(() => held.length).toBe(2); // a page
  held[0]?.();
  for (let turn = 0; turn < 20; turn++) await settled();
  expect(held).toHaveLength(2);
  held[1]?.();
  await expect.poll(() => held.length).toBe(3); // the row, or segments
  mayGoOn = true;
  for (const go of held) go();
  expect(await found).toMatchObject({ n: 77 });
  expect(await again.count()).toBe(8000);
  await next.close();
});

test('a read before a change does not see it, one behind it does', async () => {
  const { gated, client } = await stored();
  const { next, people } = await reopen(client, gated);
  const before = people.count({ city: 'c7' });
  const inserted = people.insert({ _id: 'new', n: COUNT, city: 'c7', pad: '' });
  const after = people.count({ city: 'c7' });
  expect(await before).toBe(10);
  gated.open();
  await inserted;
  expect(await after).toBe(11);
  await next.close();
});

test('a restored backup is not read through the checkpoint of what it replaced', async () => {
  const { gated, client, people, clock } = await stored();
  const backup = await people.createBackup();
  await people.deleteMany({ city: 'c7' });
  await people.save();
  await clock.advance(2000);
  await people.loadBackup(backup);
  await client.close();
  const { client: next } = openClient(gated.driver, undefined, 1000);
  const again = new next.Collection<Person>(options);
  expect(await again.count({ city: 'c7' })).toBe(10);
  expect(await again.get('p7')).toMatchObject({ n: 7 });
  await next.close();
});

test('a read that is answered early leaves no rejection behind where its handle then fails', async () => {
  const { gated, client } = await stored();
  await client.close();
  gated.shut();
  const rejections: unknown[] = [];
  const note = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const { client: next } = openClient(gated.driver, undefined, 1000);
  const people = new next.Collection<Person>({
    ...options,
    indexes: [...options.indexes, { fields: ['city'], unique: true }],
  });
  expect(await people.get('p77')).toMatchObject({ n: 77 });
  gated.open();
  await expect(people.ready).rejects.toMatchObject({ code: 'unique_violation' });
  await new Promise((resolve) => setTimeout(resolve)); // rejections are reported after microtasks
  expect(rejections).toEqual([]);
  await next.close();
});
