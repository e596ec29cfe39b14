import { beforeEach, describe, expect, test } from 'vitest';
import { pageKey } from '../../src/storage/checkpoint/checkpoint-format.ts';
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

const page: StoragePut = {
  type: 'put',
  store: 'bodies',
  key: pageKey('log', { generation: 1 }, 0, 0),
  value: { generation: 1 },
};

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
  (await driver.open('db', events)).list(store, {
    prefix: store === 'leadership' ? ['epoch'] : [],
    limit: 99,
  });

const callsOf = async (run: () => Promise<unknown>) => {
  const before = { ...driver.calls };
  await run();
  return {
    writes: driver.calls.write - before.write,
    reads: driver.calls.getMany - before.getMany,
  };
};

describe('a leader that has resigned', () => {
  test('starts no write, whether it has claimed its epoch or not', async () => {
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

  test('gets no taken() call for the next leader', async () => {
    const leader = await lead();
    leader.storage.leave();
    await expect(leader.storage.claim()).rejects.toMatchObject(taken);
    expect(leader.taken).toBe(0);
  });
});

describe('the epoch', () => {
  test('increases by one with the first write of each leader, in the same batch', async () => {
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

  test('does not change for a leader without writes', async () => {
    const idle = await lead();
    expect(await idle.storage.epoch()).toBe(1);
    await idle.storage.keys('segments', []);
    expect(await (await lead()).storage.epoch()).toBe(1);
  });

  test('can be claimed alone, once', async () => {
    const { storage } = await lead();
    expect(await callsOf(() => storage.claim())).toEqual({ writes: 1, reads: 1 });
    expect(await callsOf(() => storage.claim())).toEqual({ writes: 0, reads: 0 });
    expect(await stored('leadership')).toMatchObject([{ epoch: 1 }]);
  });

  test('is read again after a failed read', async () => {
    const { storage } = await lead();
    driver.inject({ call: 'getMany', when: 'before' });
    await expect(storage.epoch()).rejects.toBe(outage);
    expect(await storage.epoch()).toBe(1);
  });

  test('is claimed by concurrent writes, which do not wait for each other', async () => {
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

  test('stays claimed by a write stored but reported as failed', async () => {
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

  test('goes to another leader that claims it between a failed write and its retry', async () => {
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

describe('the older of two leaders', () => {
  test.each<[string, StorageOperation[]]>([
    ['a manifest', [manifest(7)]],
    ['a deletion', [{ type: 'delete', store: 'segments', key: ['log', 1] }]],
    ['the end of a collection', [{ type: 'deletePrefix', store: 'segments', prefix: ['log'] }]],
    ['appends with a manifest', [append(8), append(8, 'bodies'), manifest(9)]],
    ['a page of a checkpoint', [page]],
  ])('cannot write %s, and gets one taken() call', async (_, operations) => {
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

  test('cannot claim an epoch, even without earlier writes', async () => {
    const older = await lead();
    await older.storage.epoch();
    await (await lead()).storage.claim();
    await expect(older.storage.write([append(1)], 'relaxed')).rejects.toMatchObject(taken);
    expect(older.taken).toBe(1);
    expect(await stored('segments')).toEqual([]);
  });

  test('makes no storage call once it knows', async () => {
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
  test('makes no extra call for the fence', async () => {
    const { storage } = await lead();
    await storage.claim();
    for (let number = 1; number < 5; number++) {
      now += 1999;
      const append1 = () => storage.write([append(number), append(number, 'bodies')], 'relaxed');
      expect(await callsOf(append1)).toEqual({ writes: 1, reads: 0 });
    }
  });

  test('after 2 s of silence is confirmed by one read, the next by none', async () => {
    const { storage } = await lead();
    await storage.claim();
    now += 2001;
    const write = () => storage.write([append(1)], 'relaxed');
    expect(await callsOf(write)).toEqual({ writes: 1, reads: 1 });
    expect(await callsOf(write)).toEqual({ writes: 1, reads: 0 });
    now += 2001;
    // A later answer does not end the silence.
    storage.touch();
    expect(await callsOf(write)).toEqual({ writes: 1, reads: 1 });
  });

  test('that took over 2 s is confirmed, too', async () => {
    const { storage } = await lead();
    await storage.claim();
    driver.interrupt(0, () => {
      now += 2001;
    });
    expect(await callsOf(() => storage.write([append(1)], 'relaxed'))).toMatchObject({ reads: 1 });
  });

  test('is confirmed again if the confirmation took over 2 s', async () => {
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

  test('without a lock is confirmed each time', async () => {
    const { storage } = await lead(false);
    await storage.claim();
    for (let time = 0; time < 3; time++)
      expect(await callsOf(() => storage.write([append(1)], 'relaxed'))).toMatchObject({
        reads: 1,
      });
  });

  test('after a failover during silence counts as not saved', async () => {
    const older = await lead();
    await older.storage.claim();
    await (await lead()).storage.claim();
    now += 2001;
    await expect(older.storage.write([append(1)], 'relaxed')).rejects.toMatchObject(taken);
    expect(older.taken).toBe(1);
  });
});

test('an older leader appends to several collections all or nothing, after a newer one has begun', async () => {
  const older = await lead();
  await older.storage.claim();
  const newer = await lead();
  await newer.storage.claim();
  const other: StoragePut = { ...append(1), key: ['other', 1] };
  await older.storage.write([append(1), append(1, 'bodies')], 'relaxed');
  const both = older.storage.write([append(2), other], 'relaxed');
  await expect(both).rejects.toMatchObject(taken);
  expect(await stored('segments')).toEqual([{ number: 1 }]);
});

describe('an append of an older leader', () => {
  const open = (epoch: number): Promise<RecordRig> => openRecords(driver, { epoch });

  test('before the first manifest of a newer one is read by it', async () => {
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
  ])('after a newer one %s is ignored by all', async (_, record) => {
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
    // Nor does it come back after a compaction.
    await next.compact();
    await next.saveEach({ e: 1 });
    expect((await (await open(4)).all()).map(([key]) => key)).toEqual([...keys, 'e']);
  });
});

test('a replaced leader merges nothing, and its segments stay', async () => {
  const replaced: string[] = [];
  const open = (name: string) => {
    const fence = { elapsed: () => now, locked: true, taken: () => void replaced.push(name) };
    return openRecords(driver, { fence });
  };
  const older = await open('older');
  await older.saveEach({ a: 1, b: 1, bulk1: filler(50), bulk2: filler(50) });
  const newer = await open('newer');
  await newer.saveEach({ c: 1 });
  const before = await stored('segments');
  await expect(older.compact()).rejects.toMatchObject(taken);
  expect(replaced).toEqual(['older']);
  expect(await stored('segments')).toEqual(before);
  await newer.compact();
  const keys = ['a', 'b', 'bulk1', 'bulk2', 'c'];
  expect((await (await open('next')).all()).map(([key]) => key)).toEqual(keys);
  expect(replaced).toEqual(['older']);
});

describe('while writes are held', () => {
  test('none begins, the removal of recovery records included', async () => {
    const { storage } = await lead();
    await storage.claim();
    const release = storage.holdWrites();
    let ended = 0;
    const writes = [
      storage.forget([['client', 1]], 'relaxed'),
      storage.write([append(1)], 'relaxed'),
    ];
    for (const write of writes) write.then(() => ended++);
    await new Promise((resolve) => setTimeout(resolve));
    expect([ended, storage.hasHeldWrites]).toEqual([0, true]);
    release();
    await Promise.all(writes);
    expect([ended, storage.isBusy]).toEqual([2, false]);
  });

  test('storage is busy until every read has ended, that of recovery records included', async () => {
    const { storage } = await lead();
    expect(storage.isBusy).toBe(false);
    const read = storage.left();
    expect(storage.isBusy).toBe(true);
    await Promise.all([read, storage.idle()]);
    expect(storage.isBusy).toBe(false);
  });
});
