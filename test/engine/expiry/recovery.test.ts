import { beforeEach, expect, test } from 'vitest';
import { encode } from '../../../src/codec/capture.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { CollectionSettings } from '../../../src/protocol/settings.ts';
import { memoryDriver } from '../../../src/storage/drivers/memory-driver.ts';
import { FakeClock } from '../fake-clock.ts';
import { ReplayingClient } from '../replaying-client.ts';
import { NOTES, notes, takeOver } from '../successive-engines.ts';

const settings: CollectionSettings = {
  ...notes,
  indexes: [{ name: 'code', fields: ['code'], unique: true, multi: false }],
  expire_after: { field: 'at', seconds: 0 },
};

let clock: FakeClock;
let driver: ReturnType<typeof memoryDriver>;
let engine: Engine;
let client: ReplayingClient;
beforeEach(async () => {
  clock = new FakeClock();
  driver = memoryDriver();
  engine = await takeOver(driver, clock, 'a');
  client = new ReplayingClient(settings);
  await client.join(engine);
});

const bodyOf = (seconds: number, fields: object = {}) =>
  encode({ at: new Date(clock.now() + seconds * 1000), ...fields }, 'document');
const insert = (id: string, seconds: number, fields?: object) =>
  client.make({ op: 'insert', handle: NOTES, id, body: bodyOf(seconds, fields) });
const keys = async () => ((await client.contents()) as { keys: string[] }).keys;

/** Loses the engine with what it has not saved, and replays that to the next. */
async function failOver(): Promise<ReadonlyMap<number, unknown>> {
  client.hear();
  engine = await takeOver(driver, clock, 'a');
  const failures = await client.join(engine);
  await new Promise((resolve) => setTimeout(resolve));
  return failures;
}

test('a replayed change of a document that had a longer life counts, however late it comes', async () => {
  await insert('a', 10);
  await client.save();
  await client.make({ op: 'update', handle: NOTES, id: 'a', body: bodyOf(3600) });
  clock.jump(60_000);
  expect((await failOver()).size).toBe(0);
  expect(await keys()).toEqual(['a']);
});

test('a replayed insert takes the id of what had expired, by any clock', async () => {
  await insert('a', 10);
  await client.save();
  clock.jump(20_000);
  expect(await keys()).toEqual([]);
  await insert('a', 3600, { n: 2 });
  clock.jump(-20_000);
  expect((await failOver()).size).toBe(0);
  expect(await client.contents()).toMatchObject({ keys: ['a'], bodies: [{ exact: { n: 2 } }] });
});

test('a replayed insert takes the key of a unique index, and no document that lives', async () => {
  await insert('a', 10, { code: 'x' });
  await insert('b', 3600, { code: 'y' });
  await client.save();
  clock.jump(20_000);
  await insert('c', 3600, { code: 'x' });
  expect((await failOver()).size).toBe(0);
  expect(await keys()).toEqual(['b', 'c']);
});

test('a replayed transaction is whole, though a document that it changes has expired since', async () => {
  await insert('a', 10);
  await client.save();
  const change = { op: 'update', handle: NOTES, id: 'a', body: bodyOf(10, { n: 1 }) } as const;
  const other = { op: 'insert', handle: NOTES, id: 'b', body: bodyOf(3600) } as const;
  await client.make({ ...change, transaction: 1 });
  await client.make({ ...other, transaction: 1 });
  await client.make({
    op: 'commit',
    handle: 0,
    transaction: 1,
    changes: [change, other],
    numbers: [],
  });
  clock.jump(60_000);
  expect((await failOver()).size).toBe(0);
  expect(await keys()).toEqual(['b']);
});
