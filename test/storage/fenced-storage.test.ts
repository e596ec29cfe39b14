import { beforeEach, describe, expect, test } from 'vitest';
import type { StorageOperation, StoragePut } from '../../src/storage/drivers/driver.ts';
import { FencedStorage } from '../../src/storage/fenced-storage.ts';
import { type FaultyDriver, faultyDriver, outage } from './faulty-driver.ts';
import { filler, openRecords, type RecordRig } from './record-rig.ts';

let driver: FaultyDriver;
let now = 0;

beforeEach(() => {
  driver = faultyDriver();
  now = 0;
});

const events = { damaged: () => undefined };
const taken = { code: 'database_taken' };

/** A leader's storage, with how often `taken` was called. */
async function lead(locked = true, from = driver) {
  const leader = { taken: 0, storage: undefined as unknown as FencedStorage };
  leader.storage = new FencedStorage(await from.open('db', events), {
    elapsed: () => now,
    locked,
    taken: () => leader.taken++,
  });
  return leader;
}

const append = (number: number, store: 'segments' | 'bodies' = 'segments'): StoragePut => ({
  type: 'put',
  store,
  key: ['log', number],
  value: { number },
});
const manifest = (next: number): StoragePut => ({
  type: 'put',
  store: 'collections',
  key: ['log'],
  value: { next },
});

const stored = async (store: 'segments' | 'collections' | 'leadership') =>
  (await driver.open('db', events)).list(store, { prefix: [], limit: 99 });

const callsOf = async (run: () => Promise<unknown>) => {
  const before = { ...driver.calls };
  await run();
  return {
    writes: driver.calls.write - before.write,
    reads: driver.calls.getMany - before.getMany,
  };
};

describe('a leader that gives the lead away', () => {
  test('begins no write any more, whether it has claimed its epoch or not', async () => {
    for (const writes of [0, 1]) {
      const { storage } = await lead();
      for (let number = 1; number <= writes; number++)
        await storage.write([append(number)], 'relaxed');
      const asked = storage.write([manifest(7)], 'relaxed');
      storage.leave();
      await expect(asked).rejects.toMatchObject(taken);
      await expect(storage.write([append(9)], 'relaxed')).rejects.toMatchObject(taken);
      expect(await stored('collections')).toEqual([]);
      expect(await stored('segments')).toHaveLength(writes);
    }
  });

  test('is not told of the next one', async () => {
    const leader = await lead();
    leader.storage.leave();
    await expect(leader.storage.claim()).rejects.toMatchObject(taken);
    expect(leader.taken).toBe(0);
  });
});

describe('the epoch', () => {
  test('goes up by one with each leader that writes, along with its first write', async () => {
    for (const epoch of [1, 2, 3]) {
      const { storage } = await lead();
      expect(await storage.epoch()).toBe(epoch);
      expect(await stored('leadership')).toMatchObject(epoch === 1 ? [] : [{ epoch: epoch - 1 }]);
      expect(await callsOf(() => storage.write([append(epoch)], 'relaxed'))).toEqual({
        writes: 1,
        reads: 0,
      });
      expect(await stored('leadership')).toMatchObject([{ epoch }]);
    }
    expect(await stored('segments')).toHaveLength(3);
  });

  test('stays where a leader writes nothing', async () => {
    const idle = await lead();
    expect(await idle.storage.epoch()).toBe(1);
    await idle.storage.keys('segments', []);
    expect(await (await lead()).storage.epoch()).toBe(1);
  });

  test('can be claimed without anything else to write, once', async () => {
    const { storage } = await lead();
    expect(await callsOf(() => storage.claim())).toEqual({ writes: 1, reads: 1 });
    expect(await callsOf(() => storage.claim())).toEqual({ writes: 0, reads: 0 });
    expect(await stored('leadership')).toMatchObject([{ epoch: 1 }]);
  });

  test('is read again by the next caller after a failed read', async () => {
    const { storage } = await lead();
    driver.inject({ call: 'getMany', when: 'before' });
    await expect(storage.epoch()).rejects.toBe(outage);
    expect(await storage.epoch()).toBe(1);
  });

  test('is claimed by concurrent writes without waiting for each other', async () => {
    const slow = faultyDriver(driver, true);
    const { storage } = await lead(true, slow);
    const writes = [1, 2, 3].map((number) => storage.write([append(number)], 'relaxed'));
    await Promise.all(writes);
    expect(slow.writesAtOnce).toBe(3);
    await storage.write([append(4)], 'relaxed');
    const claims = slow.batches.map((batch) => batch.filter(({ type }) => type === 'claim'));
    expect(claims.map(({ length }) => length)).toEqual([1, 1, 1, 0]);
    expect(await stored('segments')).toHaveLength(4);
    expect(await stored('leadership')).toMatchObject([{ epoch: 1 }]);
  });

  test('is claimed by a later write when the first one fails', async () => {
    const { storage } = await lead();
    driver.inject({ call: 'write', when: 'before' });
    const writes = [1, 2].map((number) => storage.write([append(number)], 'relaxed'));
    const [first, second] = await Promise.allSettled(writes);
    expect(first).toMatchObject({ status: 'rejected', reason: outage });
    expect(second?.status).toBe('fulfilled');
    expect(await stored('segments')).toEqual([{ number: 2 }]);
    expect(await stored('leadership')).toMatchObject([{ epoch: 1 }]);
  });

  test('stays claimed by a write that was stored and reported as failed', async () => {
    const leader = await lead();
    driver.inject({ call: 'write', when: 'after' });
    await expect(leader.storage.write([append(1)], 'relaxed')).rejects.toBe(outage);
    expect(await stored('leadership')).toMatchObject([{ epoch: 1 }]);
    const retry = () => leader.storage.write([append(2), manifest(3)], 'relaxed');
    expect(await callsOf(retry)).toEqual({ writes: 1, reads: 0 });
    expect(await stored('leadership')).toMatchObject([{ epoch: 1 }]);
    expect(await stored('segments')).toHaveLength(2);
    expect(leader.taken).toBe(0);
  });

  test('belongs to another leader that claimed it between a failed write and its retry', async () => {
    const older = await lead();
    await older.storage.epoch();
    driver.inject({ call: 'write', when: 'before' });
    await expect(older.storage.write([append(1)], 'relaxed')).rejects.toBe(outage);
    const newer = await lead();
    await newer.storage.write([append(2)], 'relaxed');
    await expect(older.storage.write([append(3)], 'relaxed')).rejects.toMatchObject(taken);
    expect(older.taken).toBe(1);
    expect(await stored('segments')).toEqual([{ number: 2 }]);
  });
});

describe('of two leaders the older', () => {
  test.each<[string, StorageOperation[]]>([
    ['a manifest', [manifest(7)]],
    ['a deletion', [{ type: 'delete', store: 'segments', key: ['log', 1] }]],
    ['the end of a collection', [{ type: 'deletePrefix', store: 'segments', prefix: ['log'] }]],
    ['appends with a manifest', [append(8), append(8, 'bodies'), manifest(9)]],
  ])('writes %s no more, and is told once', async (_, operations) => {
    const older = await lead();
    await older.storage.write([append(1), manifest(2)], 'relaxed');
    const newer = await lead();
    await newer.storage.write([append(3)], 'relaxed');
    for (let time = 0; time < 2; time++)
      await expect(older.storage.write(operations, 'relaxed')).rejects.toMatchObject(taken);
    expect(older.taken).toBe(1);
    expect(newer.taken).toBe(0);
    expect(await stored('segments')).toEqual([{ number: 1 }, { number: 3 }]);
    expect(await stored('collections')).toEqual([{ next: 2 }]);
  });

  test('that never wrote claims nothing any more', async () => {
    const older = await lead();
    await older.storage.epoch();
    await (await lead()).storage.claim();
    await expect(older.storage.write([append(1)], 'relaxed')).rejects.toMatchObject(taken);
    expect(older.taken).toBe(1);
    expect(await stored('segments')).toEqual([]);
  });

  test('asks storage nothing more once it knows', async () => {
    const older = await lead();
    await older.storage.claim();
    await (await lead()).storage.claim();
    await expect(older.storage.write([manifest(1)], 'relaxed')).rejects.toMatchObject(taken);
    const after = await callsOf(() =>
      older.storage.write([append(1)], 'relaxed').catch(() => undefined),
    );
    expect(after).toEqual({ writes: 0, reads: 0 });
  });
});

describe('an append', () => {
  test('makes no call of its own for the fence', async () => {
    const { storage } = await lead();
    await storage.claim();
    for (let number = 1; number < 5; number++) {
      now += 1999;
      const append1 = () => storage.write([append(number), append(number, 'bodies')], 'relaxed');
      expect(await callsOf(append1)).toEqual({ writes: 1, reads: 0 });
    }
  });

  test('after silence is confirmed by one read, and the next by none', async () => {
    const { storage } = await lead();
    await storage.claim();
    now += 2001;
    const write = () => storage.write([append(1)], 'relaxed');
    expect(await callsOf(write)).toEqual({ writes: 1, reads: 1 });
    expect(await callsOf(write)).toEqual({ writes: 1, reads: 0 });
    now += 2001;
    // An answer does not undo the silence.
    storage.touch();
    expect(await callsOf(write)).toEqual({ writes: 1, reads: 1 });
  });

  test('that took long itself is confirmed too', async () => {
    const { storage } = await lead();
    await storage.claim();
    driver.interrupt(0, () => {
      now += 2001;
    });
    expect(await callsOf(() => storage.write([append(1)], 'relaxed'))).toMatchObject({ reads: 1 });
  });

  test('is confirmed again after a confirmation that took long', async () => {
    const { storage } = await lead();
    await storage.claim();
    now += 2001;
    driver.interrupt(1, () => {
      now += 2001;
    });
    const write = () => storage.write([append(1)], 'relaxed');
    expect(await callsOf(write)).toMatchObject({ reads: 1 });
    expect(await callsOf(write)).toMatchObject({ reads: 1 });
    expect(await callsOf(write)).toMatchObject({ reads: 0 });
  });

  test('is confirmed each time where no lock keeps others out', async () => {
    const { storage } = await lead(false);
    await storage.claim();
    for (let time = 0; time < 3; time++)
      expect(await callsOf(() => storage.write([append(1)], 'relaxed'))).toMatchObject({
        reads: 1,
      });
  });

  test('after silence in which another took over counts as not saved', async () => {
    const older = await lead();
    await older.storage.claim();
    await (await lead()).storage.claim();
    now += 2001;
    await expect(older.storage.write([append(1)], 'relaxed')).rejects.toMatchObject(taken);
    expect(older.taken).toBe(1);
  });
});

describe('what an older leader appends', () => {
  const open = (epoch: number): Promise<RecordRig> => openRecords(driver, { epoch });

  test('before a newer one records is read by it', async () => {
    const older = await open(1);
    await older.saveEach({ a: 1 });
    await older.saveEach({ b: 1 });
    const newer = await open(2);
    await newer.saveEach({ c: 1 });
    expect((await newer.all()).map(([key]) => key)).toEqual(['a', 'b', 'c']);
    expect((await (await open(3)).all()).map(([key]) => key)).toEqual(['a', 'b', 'c']);
  });

  test.each([
    ['saves', (rig: RecordRig) => rig.saveEach({ c: 1 })],
    ['records its takeover', (rig: RecordRig) => rig.log.recordTakeover()],
  ])('after a newer one %s is read by nobody', async (_, record) => {
    const older = await open(1);
    await older.saveEach({ a: 1 });
    const newer = await open(2);
    await record(newer);
    await older.saveEach({ a: 'too late', b: 'too late' });
    await newer.saveEach({ d: 1 });
    const keys = (await newer.all()).map(([key]) => key);
    expect(keys).not.toContain('b');
    const next = await open(3);
    expect((await next.all()).map(([key]) => key)).toEqual(keys);
    expect(await next.read('a')).toBe(1);
    // Nor does it come back once others have been merged.
    await next.compact();
    await next.saveEach({ e: 1 });
    expect((await (await open(4)).all()).map(([key]) => key)).toEqual([...keys, 'e']);
  });
});

test('a leader that was replaced merges nothing, and what it would have merged stays', async () => {
  const told: string[] = [];
  const open = (name: string) => {
    const fence = { elapsed: () => now, locked: true, taken: () => void told.push(name) };
    return openRecords(driver, { fence });
  };
  const older = await open('older');
  await older.saveEach({ a: 1, b: 1, bulk1: filler(50), bulk2: filler(50) });
  const newer = await open('newer');
  await newer.saveEach({ c: 1 });
  const before = await stored('segments');
  await expect(older.compact()).rejects.toMatchObject(taken);
  expect(told).toEqual(['older']);
  expect(await stored('segments')).toEqual(before);
  await newer.compact();
  const keys = ['a', 'b', 'bulk1', 'bulk2', 'c'];
  expect((await (await open('next')).all()).map(([key]) => key)).toEqual(keys);
  expect(told).toEqual(['older']);
});
