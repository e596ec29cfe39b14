import { expect, onTestFinished, test, vi } from 'vitest';
import { Database, type DocumentCollection, memoryDriver } from '../../src/index.ts';
import { FailingStorage } from '../contract/failing-storage.ts';
import { rejection } from '../contract/outcomes.ts';

interface Thing {
  text?: string;
  n?: number;
}

async function open(caching = true): Promise<[Database, DocumentCollection<Thing>]> {
  const db = new Database({ name: 'limits', storage: 'memory' });
  onTestFinished(() => db.close());
  const things = new db.Collection<Thing>({ name: 'things', type: 'DOCUMENT_BASED', caching });
  await things.insert({ _id: 'a', n: 1 });
  return [db, things];
}

test('a transaction of more than 64 MB is refused, names the collection, and changes nothing', async () => {
  const [db, things] = await open();
  const text = 'x'.repeat(8 * 1024 * 1024);
  let made = 0;
  const failing = db.transaction(async (tx) => {
    for (; made < 20; made++) await tx(things).upsert({ _id: 'big', text });
  });
  expect(await rejection(failing)).toMatchObject({
    name: 'TransactionError',
    code: 'transaction_too_large',
    place: 'things',
  });
  expect(made).toBe(7);
  expect(await things.count()).toBe(1);
  await db.transaction((tx) => tx(things).patch('a', { n: 2 }));
  expect((await things.get('a'))?.n).toBe(2);
});

test('an insertMany or patchMany that is too large stages nothing, and the transaction goes on', async () => {
  const [db, things] = await open();
  const text = 'x'.repeat(12 * 1024 * 1024);
  const many = Array.from({ length: 6 }, (_, n) => ({ _id: `m${n}`, text }));
  const codes: unknown[] = [];
  const note = (error: unknown) => void codes.push((error as { code: string }).code);
  await db.transaction(async (tx) => {
    const own = tx(things);
    await own.insertMany(many).catch(note);
    await own.insertMany(many.map(({ _id }) => ({ _id, n: 1 })));
    await own.patchMany({ n: 1 }, { text }).catch(note);
    await own.patch('a', { n: 2 });
  });
  expect(codes).toEqual(['transaction_too_large', 'transaction_too_large']);
  expect(await things.count({ n: 1, text: { $exists: false } })).toBe(6);
  expect((await things.get('a'))?.n).toBe(2);
});

test('a snapshot expires after 100,000 changes of others, and the function runs again', async () => {
  const [db, things] = await open();
  await things.insertMany(Array.from({ length: 9999 }, (_, n) => ({ n })));
  const changeAll = async (times: number) => {
    for (let time = 0; time < times; time++) await things.patchMany({}, { $inc: { n: 1 } });
  };
  const log: unknown[] = [];
  const run = (times: number, retries: number) =>
    db.transaction(
      async (tx) => {
        await tx(things).get('none');
        if (log.length < 2) await changeAll(times);
        const found = tx(things).get('none');
        log.push(await found.catch((error: unknown) => (error as { code: string }).code));
      },
      { retries },
    );
  await run(9, 0);
  expect(await rejection(run(10, 0))).toMatchObject({ code: 'transaction_expired' });
  await run(10, 1);
  expect(log).toEqual([undefined, 'transaction_expired', undefined]);
});

test('a function that never ends is given up after an hour without a call', async () => {
  const [db, things] = await open();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);
  let isSettled = false;
  let inside: () => void = () => undefined;
  const isInside = new Promise<void>((resolve) => {
    inside = resolve;
  });
  const failing = db.transaction(async (tx) => {
    await tx(things).patch('a', { n: 2 });
    inside();
    await new Promise((resolve) => setTimeout(resolve, 50 * 60_000));
    await tx(things).patch('a', { n: 3 });
    await new Promise(() => undefined);
  });
  const settled = failing.catch((error: unknown) => {
    isSettled = true;
    return error;
  });
  await isInside;
  await minutes(100);
  expect(isSettled).toBe(false);
  await minutes(80);
  expect(await settled).toMatchObject({ code: 'transaction_expired' });
  expect((await things.get('a'))?.n).toBe(1);
});

test('a snapshot shows replaced documents also after they were saved and merged', async () => {
  const [db, things] = await open(false);
  const text = 'x'.repeat(50_000);
  await things.insertMany(Array.from({ length: 40 }, (_, n) => ({ _id: `t${n}`, n, text })));
  await db.save();
  const seen = await db.transaction(async (tx) => {
    const before = await tx(things).count();
    for (let round = 0; round < 6; round++) {
      await things.patchMany({}, { $inc: { n: 1000 } });
      await db.save();
    }
    await things.deleteMany({ n: { $gt: 0 } });
    await db.save();
    const all = await tx(things).filter({ _id: { $ne: 'a' } });
    return {
      before,
      sum: all.reduce((sum, { n = 0 }) => sum + n, 0),
      text: all[39]?.text === text,
    };
  });
  expect(seen).toEqual({ before: 41, sum: 780, text: true });
  expect(await things.count()).toBe(0);
});

test('a snapshot shows a document that was replaced while it was being saved, and whose segment was removed', async () => {
  const storage = new FailingStorage(memoryDriver());
  const db = new Database({ name: 'limits', storage });
  onTestFinished(() => db.close());
  const things = new db.Collection<Thing>({
    ...{ name: 'things', type: 'DOCUMENT_BASED', caching: false },
    ...{ save_timeout: 3600, save_directly_after: 1000 },
  });
  await things.insert({ _id: 'a', n: 0 });
  await db.save();
  // One more segment without a live document, and all of them are removed.
  for (let round = 1; round <= 14; round++) {
    await things.patch('a', { n: round });
    await db.save();
  }
  await things.patch('a', { n: 15 });
  let finish: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    storage.beforeWrite = () => {
      resolve();
      return new Promise((finished) => {
        finish = finished;
      });
    };
  });
  const saving = db.save();
  await begun;
  const seen = await db.transaction(async (tx) => {
    await tx(things).get('none');
    await things.patch('a', { n: 16 });
    storage.beforeWrite = async () => undefined;
    finish();
    await saving;
    await db.save();
    // After the compaction.
    await things.createBackup();
    return tx(things).get('a');
  });
  expect(seen?.n).toBe(15);
});

test('a call that fails unnoticed while the function goes on is an unhandled rejection', async () => {
  const [db, things] = await open();
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  const unhandled = new Promise<unknown>((resolve) => process.once('unhandledRejection', resolve));
  onTestFinished(() => {
    for (const listener of others) process.on('unhandledRejection', listener);
  });
  await db.transaction(async (tx) => {
    void tx(things).insert({ _id: 'a' });
    await tx(things).insert({ _id: 'b' });
    await new Promise((resolve) => setTimeout(resolve));
  });
  expect(await unhandled).toMatchObject({ code: 'id_taken' });
});
