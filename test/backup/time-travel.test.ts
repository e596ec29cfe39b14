import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { rejection } from '../contract/outcomes.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock } from '../engine/fake-clock.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { atRest, type Things } from './cut-world.ts';
import { driverWith, numberAt, readStored, tampered } from './stored.ts';

const DAY = 86_400_000;
const text = 't'.repeat(1000);

/** @param options Of the collection. */
function open(
  options: object = {},
  driver = faultyDriver(memoryDriver()),
  clock = new FakeClock(),
) {
  const { client } = openClient(driver, clock);
  const things: Things = new client.Collection<any>({
    ...{ name: 'things', type: 'DOCUMENT_BASED', backup_retention_time: 1 },
    ...options,
  });
  return { driver, clock, client, things };
}

/** Documents in three segments and more. */
const many = () => Array.from({ length: 400 }, (_, n) => ({ _id: `d${n}`, n, text }));

const segments = async (driver: Parameters<typeof readStored>[0]) =>
  (await readStored(driver)).segments.length;

for (const caching of [false, true]) {
  describe(`a view of a backup, caching: ${caching}`, () => {
    test('reads on though the backup expires and the segments are merged', async () => {
      const { driver, clock, things } = open({ caching });
      await things.insertMany(many());
      const name = await things.createBackup();
      const each = things.at(name).each();
      const seen = [(await each.next()).value];
      // The two newest never expire.
      for (let round = 0; round < 3; round++) {
        await things.patchMany({}, { $inc: { n: 1000 } });
        await things.createBackup();
      }
      await clock.advance(3 * DAY);
      await atRest(driver);
      expect((await things.listBackups()).map((one) => one.name)).not.toContain(name);
      for await (const document of each) seen.push(document);
      expect(seen).toMatchObject(many());
    });

    test('lets go of its segments a minute after the last read', async () => {
      const { driver, clock, things } = open({ caching });
      const empty = await things.createBackup();
      await things.insertMany(many());
      const name = await things.createBackup();
      const then = things.at(name);
      expect(await then.count()).toBe(400);
      await things.loadBackup(empty);
      for (const one of await things.listBackups())
        if (one.name !== empty) await things.deleteBackup(one.name);
      await things.insert({ _id: 'x' });
      await things.save();
      await atRest(driver);
      const held = await segments(driver);
      expect(await then.count({ n: { $lt: 10 } })).toBe(10);
      await clock.advance(61_000);
      await things.insert({ _id: 'y' });
      await things.save();
      await atRest(driver);
      expect(await segments(driver)).toBeLessThan(held);
      expect(await rejection(then.count())).toMatchObject({ code: 'backup_unknown' });
      expect(await things.count()).toBe(2);
    });

    test('opens its backup again after a pause', async () => {
      const { clock, things } = open({ caching });
      await things.insertMany(many());
      const then = things.at(await things.createBackup());
      await things.deleteMany({});
      expect(await then.count()).toBe(400);
      await clock.advance(10 * 60_000);
      expect(await then.get('d7')).toMatchObject({ n: 7 });
    });

    test('shows what had not expired when the backup was made', async () => {
      const { clock, things } = open({ caching, expire_after: { field: 'until', seconds: 0 } });
      const now = clock.now();
      await things.insertMany([
        { _id: 'soon', until: new Date(now + 1000) },
        { _id: 'late', until: new Date(now + 60_000) },
      ]);
      await things.save();
      const then = things.at(await things.createBackup());
      await clock.advance(5000);
      const later = things.at(await things.createBackup());
      expect([await things.count(), await then.count(), await later.count()]).toEqual([1, 2, 1]);
      expect(await then.get('soon')).toMatchObject({ _id: 'soon' });
      expect(await later.get('soon')).toBe(undefined);
      expect(await things.restoreDocument('soon', then.backup)).toMatchObject({ _id: 'soon' });
      expect(await things.get('soon')).toBe(undefined);
    });

    test('answers without an index that its segments do not have', async () => {
      const driver = faultyDriver(memoryDriver());
      const before = open({ caching }, driver);
      await before.things.insertMany(many());
      const name = await before.things.createBackup();
      await before.things.deleteMany({});
      await before.client.close();
      const { things } = open({ caching, indexes: [{ fields: ['text'], unique: true }] }, driver);
      const then = things.at(name);
      expect((await then.explain({ text })).plan.kind).toBe('scan');
      expect(await then.count({ text })).toBe(400);
    });
  });
}

describe('damage', () => {
  /** A backup whose second segment misses something. */
  async function damaged(store: 'segments' | 'bodies') {
    const { driver, client, things } = open();
    await things.insertMany(many());
    const name = await things.createBackup();
    await things.deleteMany({ n: { $lt: 390 } });
    await things.insertMany(many().map((one) => ({ ...one, _id: `e${one.n}` })));
    const later = await things.createBackup();
    await client.close();
    const stored = await readStored(driver);
    const number = numberAt(stored, 2);
    const lost = tampered(stored, store, (value, key) => (key[1] === number ? undefined : value));
    return { name, later, ...open({}, (await driverWith(lost)) as never) };
  }

  for (const store of ['segments', 'bodies'] as const)
    test(`of ${store} is backup_damaged, and names the backup`, async () => {
      const { name, later, things } = await damaged(store);
      for (const call of [
        () => things.at(name).count({ text: 'x' }),
        () => things.diff(name, later).next(),
        () => things.restoreDocument('d200', name),
      ]) {
        const error = await rejection(call());
        expect([error.code, error.message.includes(`"${name}"`)]).toEqual(['backup_damaged', true]);
      }
    });

  test('of the collection leaves its whole backups readable', async () => {
    const { driver, client, things } = open();
    await things.insertMany(many());
    const name = await things.createBackup();
    await things.insert({ _id: 'later', text: text.repeat(100) });
    await things.save();
    await client.close();
    const stored = await readStored(driver);
    const last = stored.segments.at(-1)?.[0][1];
    const lost = tampered(stored, 'segments', (value, key) =>
      key[1] === last ? { ...value, keys: undefined } : value,
    );
    const again = open({}, (await driverWith(lost)) as never);
    expect(await rejection(again.things.count())).toMatchObject({ code: 'data_damaged' });
    expect(await again.things.at(name).count()).toBe(400);
    expect(await rejection(again.things.diff(name).next())).toMatchObject({ code: 'data_damaged' });
    expect(await rejection(again.things.restoreDocument('d1', name))).toMatchObject({
      code: 'data_damaged',
    });
  });
});

test('a diff reads the bodies of those segments alone that hold what differs', async () => {
  const read = new Set<unknown>();
  const inner = memoryDriver();
  const driver: typeof inner = {
    ...inner,
    open: async (...given) => {
      const storage = await inner.open(...given);
      return {
        ...storage,
        getMany: (store, keys) => {
          if (store === 'bodies') for (const [, number] of keys) read.add(number);
          return storage.getMany(store, keys);
        },
        list: (...range) => storage.list(...range),
        keys: (...range) => storage.keys(...range),
        write: (...batch) => storage.write(...batch),
        close: () => storage.close(),
      };
    },
  };
  const first = open({}, driver as never);
  await first.things.insertMany(
    Array.from({ length: 4000 }, (_, n) => ({ _id: `d${n}`, n, text })),
  );
  const from = await first.things.createBackup();
  await first.things.patchMany({ n: { $in: [5, 6, 7, 3000] } }, { $set: { n: -1 } });
  const to = await first.things.createBackup();
  await first.client.close();
  const { things } = open({}, driver as never);
  await things.ready;
  read.clear();
  const ids: string[] = [];
  for await (const { id } of things.diff(from, to)) ids.push(id);
  expect(ids).toEqual(['d5', 'd6', 'd7', 'd3000']);
  expect((await readStored(inner)).bodies.length).toBeGreaterThan(30);
  expect(read.size).toBeLessThanOrEqual(3);
});
