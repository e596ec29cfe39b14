import { beforeEach, describe, expect, test } from 'vitest';
import type { Request } from '../../src/protocol/requests.ts';
import type { CollectionSettings } from '../../src/protocol/settings.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { FakeClock } from './fake-clock.ts';
import { ReplayingClient } from './replaying-client.ts';
import { NOTES, notes, takeOver, VALUES, values } from './successive-engines.ts';

let driver: FaultyDriver;
let clock: FakeClock;

beforeEach(() => {
  driver = faultyDriver();
  clock = new FakeClock();
});

const off = { at: false, timestamp: false };
const on = { at: true, timestamp: true };

/** What the requests leave, before the engine is lost and after another has taken over, later. */
async function replayed(client: ReplayingClient, make: () => Promise<void>): Promise<void> {
  await client.join(await takeOver(driver, clock));
  await make();
  const before = await client.contents();
  driver.crash();
  await clock.advance(5000);
  const empty = new ReplayingClient();
  await empty.join(await takeOver(driver, clock));
  expect(((await empty.contents()) as { keys: string[] }).keys).toEqual([]);
  driver.crash();
  const failures = await client.join(await takeOver(driver, clock, 'a'));
  expect([...failures.values()]).toEqual([]);
  expect(await client.contents()).toEqual(before);
}

const insert = (id: string, fields: object): Request => ({
  ...{ op: 'insert', handle: NOTES, id, body: JSON.stringify(fields) },
});
const patch = (id: string, changes: object): Request => ({
  ...{ op: 'patch', handle: NOTES, id, changes: JSON.stringify(changes) },
});
const patchMany = (criteria: object, changes: object): Request => ({
  ...{ op: 'patchMany', handle: NOTES, criteria, archived: false },
  ...{ changes: JSON.stringify(changes) },
});
const part = (from: number, ids: (string | undefined)[], last: boolean, n = 1): Request => ({
  ...{ op: 'insertPart', handle: NOTES, call: 7, upsert: true, from, last, ids },
  bodies: ids.map((_, at) => JSON.stringify({ n: n + at })),
});

describe('after a failover', () => {
  test('a patch with operators has its time, and counts once', async () => {
    const client = new ReplayingClient();
    await replayed(client, async () => {
      await client.make(insert('x', { n: 1, log: [] }));
      await clock.advance(1000);
      const now = { at: true, ms: { $type: 'timestamp' } };
      await client.make(patch('x', { $inc: { n: 1 }, $push: { log: 1 }, $currentDate: now }));
      await clock.advance(1000);
      await client.make(patch('x', { $inc: { n: 10 }, $push: { log: 2 } }));
    });
    // Saved, and replayed by a client that has not heard of that.
    const heard = client.kept.all();
    const before = await client.contents();
    await client.save();
    driver.crash();
    await client.join(await takeOver(driver, clock, 'a'), heard);
    expect(await client.contents()).toEqual(before);
  });

  test('a patch without stamps has the time of its $currentDate', async () => {
    const client = new ReplayingClient({ ...notes, created: off, updated: off });
    await replayed(client, async () => {
      await client.make(insert('x', {}));
      await client.make(patch('x', { $currentDate: { ms: { $type: 'timestamp' } } }));
      await client.make(patchMany({}, { $currentDate: { also: { $type: 'timestamp' } } }));
    });
  });

  test('a patchMany changes what it changed, in its place among the others', async () => {
    const client = new ReplayingClient();
    await replayed(client, async () => {
      for (const n of [1, 2, 3]) await client.make(insert(`d${n}`, { n }));
      await clock.advance(1000);
      await client.make(patchMany({ n: { $gte: 2 } }, { $inc: { n: 10 } }));
      await clock.advance(1000);
      await client.make(patch('d1', { n: 5 }));
      await client.make(patchMany({ n: { $lt: 13 } }, { $mul: { n: 2 } }));
      await client.make(insert('d4', { n: 6 }));
      const changes = '{"$inc":{"n":100}}';
      const ids = ['d4', 'd1', 'gone'];
      const { count } = await client.make({ op: 'patchMany', handle: NOTES, ids, changes });
      expect(count).toBe(2);
      expect((await client.make(patchMany({ n: -1 }, { n: 0 }))).count).toBe(0);
    });
    expect(client.kept.size).toBe(8);
  });

  test('a patchMany that was refused is not made', async () => {
    const client = new ReplayingClient();
    await replayed(client, async () => {
      await client.make(insert('a', { n: 1 }));
      await client.make(insert('b', { n: 'text' }));
      const refused = client.make(patchMany({}, { $inc: { n: 1 } }));
      await expect(refused).rejects.toMatchObject({ code: 'kind_mismatch' });
    });
    expect(client.kept.size).toBe(2);
  });

  test.each([
    ['both stamps', on, on],
    ['created', on, off],
    ['updated', off, on],
    ['none', off, off],
  ] as const)('an upsertMany in parts has its ids and times: %s', async (_, created, updated) => {
    const client = new ReplayingClient({ ...notes, created, updated });
    await replayed(client, async () => {
      await client.make(insert('old', { n: 0 }));
      await client.make(insert('older', { n: 0 }));
      await clock.advance(1000);
      await client.make(part(0, ['old', undefined, 'new'], false));
      await clock.advance(1000);
      await client.make(part(3, ['older', undefined, 'new', 'last'], true, 50));
    });
  });

  test.each([
    ['both stamps', on, on],
    ['created', on, off],
    ['updated', off, on],
  ] as const)('an upsertMany in one part has its ids and time: %s', async (_, created, updated) => {
    const client = new ReplayingClient({ ...notes, created, updated });
    await replayed(client, async () => {
      await client.make(insert('old', { n: 0 }));
      await clock.advance(1000);
      await client.make(part(0, ['old', undefined, 'new'], true));
    });
  });

  test('an upsertMany whose end came after a save is not applied twice', async () => {
    const client = new ReplayingClient();
    await client.join(await takeOver(driver, clock));
    await client.make(insert('old', { n: 0 }));
    await client.make(part(0, ['old', 'new'], false));
    await client.save();
    await client.make(part(2, ['last'], true));
    const kept = client.kept.all();
    const before = await client.contents();
    await client.save();
    driver.crash();
    await clock.advance(1000);
    const failures = await client.join(await takeOver(driver, clock, 'a'), kept);
    expect([...failures.values()]).toEqual([]);
    expect(await client.contents()).toEqual(before);
  });

  test('a replaced version stays replaced, and one that was not is not', async () => {
    const client = new ReplayingClient();
    await replayed(client, async () => {
      await client.make(insert('x', { n: 1 }));
      await client.make({ op: 'kvSet', handle: VALUES, key: 'k', body: '1' });
      const { version } = await client.make({ op: 'getVersion', handle: NOTES, id: 'x' });
      const found = await client.make({ op: 'kvGetVersion', handle: VALUES, key: 'k' });
      await clock.advance(1000);
      const replace = { op: 'replaceIf', handle: NOTES, id: 'x', version } as const;
      const kvReplace = { op: 'kvReplace', handle: VALUES, key: 'k', ...found } as const;
      expect((await client.make({ ...replace, body: '{"n":2}' }))[0]).toBe('x');
      expect(await client.make({ ...kvReplace, body: '2' })).toBe(true);
      expect(await client.make({ ...replace, body: '{"n":3}' })).toBe(false);
      expect(await client.make({ ...kvReplace, body: '3' })).toBe(false);
    });
  });

  test('a comparison that failed and was not answered is reapplied', async () => {
    const stale = [
      { op: 'replaceIf', handle: NOTES, id: 'x', body: '{"n":9}', version: 0.5 },
      { op: 'kvReplace', handle: VALUES, key: 'k', body: '9', version: 0.5 },
    ] as const;
    const first = await takeOver(driver, clock);
    const client = new ReplayingClient();
    await client.join(first);
    await client.make(insert('x', { n: 1 }));
    await client.make({ op: 'kvSet', handle: VALUES, key: 'k', body: '1' });
    const session = first.join(() => undefined, 'b');
    session.openAll([
      [NOTES, notes],
      [VALUES, values],
    ]);
    const numbers = [
      [NOTES, 1],
      [VALUES, 1],
    ] as const;
    // No client hears the answer; later changes of the client are saved.
    await session.execute(stale, numbers);
    await session.execute(
      [insert('y', {}), { op: 'kvSet', handle: VALUES, key: 'j', body: '1' }],
      [
        [NOTES, 2],
        [VALUES, 2],
      ],
    );
    await session.save();
    driver.crash();
    const second = (await takeOver(driver, clock)).join(() => undefined, 'b');
    second.openAll([
      [NOTES, notes],
      [VALUES, values],
    ]);
    const { values: answers, failures } = await second.execute(stale, numbers);
    // `answer_lost` would tell `modify` that its change was made.
    expect(failures).toBe(undefined);
    expect(answers).toEqual([false, false]);
  });
});

test('a unique index is given up for an insertMany in parts whose documents have no stamps', async () => {
  const plain: CollectionSettings = { ...notes, created: off, updated: off };
  const unique = { name: 'n', fields: ['n'], unique: true, multi: false };
  const old = new ReplayingClient(plain);
  await old.join(await takeOver(driver, clock));
  for (const upsert of [true, false]) {
    const call = { op: 'insertPart', handle: NOTES, call: upsert ? 1 : 2, upsert } as const;
    await old.make({ ...call, from: 0, bodies: ['{"n":1}', '{"n":1}'], last: false });
    await old.make({ ...call, from: 2, bodies: ['{"n":1}'], last: true });
  }
  const kept = old.kept.all();
  driver.crash();
  const engine = await takeOver(driver, clock, 'a', 'b');
  const declaring = engine.join(() => undefined, 'b');
  declaring.openAll([[NOTES, { ...plain, indexes: [unique] }]]);
  const [failures] = await Promise.all([old.join(engine, kept), declaring.replay([])]);
  expect([...failures.values()]).toEqual([]);
  expect(((await old.contents()) as { keys: string[] }).keys).toHaveLength(6);
});
