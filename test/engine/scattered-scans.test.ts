import { expect, test } from 'vitest';
import { Database, type DatabaseClient } from '../../src/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';

interface Note {
  n: number;
  pad: string;
}

const options = { name: 'notes', type: 'DOCUMENT_BASED', save_timeout: 3600 } as const;

/** 1,500 documents, their newest versions scattered over many segments, out of order. */
async function scattered() {
  const driver = faultyDriver();
  const first = openClient(driver);
  const notes = new first.client.Collection<Note>({ ...options, save_directly_after: 1_000_000 });
  const pad = 'x'.repeat(500);
  const all = await notes.insertMany(
    Array.from({ length: 1500 }, (_, n) => ({ _id: `k${n}`, n, pad })),
  );
  await notes.save();
  for (const step of [7, 5, 3]) {
    for (let at = all.length - 1; at >= 0; at -= step) {
      await notes.update(`k${at}`, { n: at, pad: `${pad}${step}` });
    }
    await notes.save();
  }
  await first.client.close();
  const { client } = openClient(driver);
  return { driver, client, notes: new client.Collection<Note>(options) };
}

const inOrder = Array.from({ length: 1500 }, (_, n) => n);

test('scans deliver documents in order of insertion, not of storage', async () => {
  const { client, notes } = await scattered();
  const numbers = (found: { n: number }[]) => found.map(({ n }) => n);
  expect(numbers(await notes.filter({}))).toEqual(inOrder);
  expect(numbers(await notes.filter(() => true))).toEqual(inOrder);
  for (const least of [0, 1, 2, 499, 1001, 1499]) {
    expect((await notes.find({ n: { $gte: least } }))?.n).toBe(least);
    expect((await notes.find(({ n }) => n >= least))?.n).toBe(least);
  }
  expect(await notes.find({ n: 1500 })).toBeUndefined();
  expect(await notes.has(({ n }) => n === 1499)).toBe(true);
  await client.close();
});

test('a scan reads a snapshot of the documents at its begin', async () => {
  const { client, notes } = await scattered();
  const scan = notes.filter(() => true);
  const changes = [
    notes.deleteMany({ n: { $lt: 700 } }),
    notes.update('k1000', { n: -1, pad: '' }),
    notes.insert({ n: 1500, pad: '' }),
    notes.save(),
  ];
  expect((await scan).map(({ n }) => n)).toEqual(inOrder);
  await Promise.all(changes);
  expect(await notes.count()).toBe(801);
  expect(await notes.get('k1000')).toMatchObject({ n: -1 });
  await client.close();
});

/** Makes enough dead segments for the next save to trigger a compaction. */
async function rewriteAll(notes: Awaited<ReturnType<typeof scattered>>['notes']): Promise<void> {
  for (const pad of ['a', 'b', 'c']) {
    for (const n of inOrder) void notes.update(`k${n}`, { n, pad: pad.repeat(500) });
    await notes.save();
  }
}

/** Whether one of these batches removed segments. */
const compacted = (batches: readonly (readonly { type: string }[])[]) =>
  batches.some((batch) => batch.some(({ type }) => type === 'delete'));

test('an abandoned scan releases its pin: compaction goes on', async () => {
  const { driver, client, notes } = await scattered();
  expect(await notes.has(() => true)).toBe(true);
  await expect(
    notes.filter(() => {
      throw new Error('no more');
    }),
  ).rejects.toThrow('no more');
  const before = driver.batches.length;
  await rewriteAll(notes);
  await client.close();
  expect(compacted(driver.batches.slice(before))).toBe(true);
});

test('closing a client in the middle of a scan does not block compaction for others', async () => {
  const { driver, client } = await scattered();
  await client.close();
  const one: DatabaseClient = new Database({ name: 'test', storage: driver });
  const two: DatabaseClient = new Database({ name: 'test', storage: driver });
  const own = new two.Collection<Note>(options);
  await own.ready;
  let seen = 0;
  const scan = new one.Collection<Note>(options).filter(() => {
    if (++seen === 1) void one.close();
    return true;
  });
  await expect(scan).rejects.toMatchObject({ code: 'closed' });
  expect(seen).toBeLessThan(1500);
  const before = driver.batches.length;
  await rewriteAll(own);
  await two.close();
  expect(compacted(driver.batches.slice(before))).toBe(true);
});

type Notes = Awaited<ReturnType<typeof scattered>>['notes'];

/** Ways to abandon a scan. */
const givenUp: Record<string, (notes: Notes, controller: AbortController) => Promise<unknown>> = {
  'a loop that breaks': async (notes) => {
    for await (const { n } of notes) if (n === 100) break;
  },
  'a sorted loop that breaks': async (notes) => {
    for await (const { n } of notes.each({}, { sort: { n: -1 } })) if (n === 1000) break;
  },
  'an aborted loop': async (notes, controller) => {
    for await (const { n } of notes.each(() => true, { signal: controller.signal })) {
      if (n === 100) controller.abort();
    }
  },
  'a function that aborts': (notes, controller) =>
    notes.filter(() => controller.abort(), { signal: controller.signal }),
  'a call aborted during a read': async (notes, controller) => {
    const found = notes.filter(() => true, { signal: controller.signal });
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    controller.abort();
    await found;
  },
  'a loop aborted during a read': async (notes, controller) => {
    const loop = notes.each(() => true, { signal: controller.signal });
    const first = loop.next();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    controller.abort();
    await first;
  },
};

test.each(Object.entries(givenUp))('%s lets compaction go on', async (_, giveUp) => {
  const { driver, client, notes } = await scattered();
  await notes.ready;
  const controller = new AbortController();
  await giveUp(notes, controller).catch((error: unknown) => {
    expect(error).toBe(controller.signal.reason);
  });
  const before = driver.batches.length;
  await rewriteAll(notes);
  await client.close();
  expect(compacted(driver.batches.slice(before))).toBe(true);
});
