import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { NearSession } from '../../src/engine/near-session.ts';
import { parts } from '../../src/engine/parts.ts';
import { loadFailed } from '../../src/errors/errors.ts';
import { DATABASE, type Request } from '../../src/protocol/requests.ts';
import { EPOCH_SPAN } from '../../src/storage/log/manifest.ts';
import { type FaultyDriver, faultyDriver, type StorageCall } from '../storage/faulty-driver.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { ReplayingClient } from './replaying-client.ts';
import { ask, join, NOTES, notes, opened, takeOver, VALUES } from './successive-engines.ts';

let driver: FaultyDriver;
let clock: FakeClock;
let client: ReplayingClient;

beforeEach(() => {
  driver = faultyDriver();
  clock = new FakeClock();
});
afterEach(() => void vi.restoreAllMocks());

const set = (id: string, n: number): Request => ({
  ...{ op: 'update', handle: NOTES, id, body: `{"n":${n}}` },
});
const patch = (id: string, n: number): Request => ({
  ...{ op: 'patch', handle: NOTES, id, changes: `{"$set":{"n":${n}}}` },
});
const setValue = (n: number): Request => ({
  ...{ op: 'kvSet', handle: VALUES, key: 'k', body: `${n}` },
});
const save: Request = { op: 'save', handle: NOTES };
const count = { op: 'count', handle: NOTES } as Request;
const commit: Request = {
  ...{ op: 'commit', handle: DATABASE, transaction: 1, numbers: [] },
  changes: [set('x', 2)],
};

/** Stores a document in an engine, which makes changes that are lost with it. */
async function crashWith(...changes: Request[]): Promise<void> {
  client = new ReplayingClient({ ...notes, caching: false });
  await client.join(await takeOver(driver, clock));
  await client.make({ op: 'insert', handle: NOTES, id: 'x', body: '{"n":1}' });
  await client.save();
  client.hear();
  for (const change of changes) await client.make(change);
  driver.crash();
  await clock.advance(5000);
}

/** An engine whose code of transactions did not come for a change that its client replays. */
async function lackingCode(): Promise<Engine> {
  await crashWith({ ...set('x', 2), transaction: 1 }, commit);
  const engine = await takeOver(driver, clock, 'a');
  vi.spyOn(parts, 'load').mockImplementationOnce(async () => loadFailed(new Error('offline')));
  expect(codesOf(await client.join(engine))).toEqual([[0, 'load_failed']]);
  return engine;
}

const codesOf = (failures: ReadonlyMap<number, unknown>) =>
  [...failures].map(([index, error]) => [index, (error as { code: string }).code]);

const stored = async () => ((await client.contents()) as { bodies: string[] }).bodies;

const READS: StorageCall[] = ['list', 'getMany'];

test.each(READS.flatMap((call) => [0, 1, 2, 3, 4].map((after) => [call, after] as const)))(
  'no change overtakes a replay whose storage fails from call %s %d on',
  async (call, after) => {
    await crashWith(set('x', 2));
    const engine = await takeOver(driver, clock, 'a');
    driver.inject({ call, when: 'before', after, times: 50 });
    const failures = await client.join(engine);
    driver.heal();
    if (failures.size === 0) return;
    for (const request of [set('x', 3), save])
      await expect(client.make(request)).rejects.toMatchObject({ code: 'storage_lost' });
    // Others have lost nothing.
    if (call === 'list') expect(await client.make(setValue(1))).toBeUndefined();
    expect(await client.replayAgain()).toEqual(new Map());
    expect(await stored()).toEqual(['{"n":2}']);
    await client.make(set('x', 3));
    await client.make(save);
    expect(await stored()).toEqual(['{"n":3}']);
  },
);

test('no change of a replay overtakes one before it in its collection', async () => {
  await crashWith(patch('x', 2), set('x', 3), setValue(1));
  const engine = await takeOver(driver, clock);
  // Opens the collection.
  expect(await ask(join(engine, 'b').session, { op: 'count', handle: NOTES } as Request)).toBe(1);
  driver.inject({ call: 'getMany', when: 'before' });
  expect(codesOf(await client.join(engine))).toEqual([
    [0, 'storage_lost'],
    [1, 'storage_lost'],
  ]);
  expect(await client.replayAgain()).toEqual(new Map());
  expect(await client.contents()).toMatchObject({
    ...{ bodies: ['{"n":3}'], entries: { bodies: ['1'] } },
  });
});

test('a recovery waits five seconds for the code of commits, no longer', async () => {
  await crashWith({ ...set('x', 2), transaction: 1 }, commit);
  const engine = await takeOver(driver, clock, 'a');
  const loading = vi.spyOn(parts, 'load').mockReturnValueOnce(new Promise(() => undefined));
  const joined = client.join(engine);
  await expect.poll(() => loading.mock.calls.length).toBe(1);
  const other = join(engine, 'b').session;
  const counting = Promise.allSettled([ask(other, count)]);
  await clock.advance(5000);
  expect(await counting).toMatchObject([{ reason: { code: 'load_failed' } }]);
  expect(codesOf(await joined)).toEqual([[0, 'load_failed']]);
  expect(await client.replayAgain()).toEqual(new Map());
  expect(await ask(other, count)).toBe(1);
  expect(await stored()).toEqual(['{"n":2}']);
});

test('nobody sees or changes a collection that lacks an acknowledged change', async () => {
  const engine = await lackingCode();
  const other = join(engine, 'b');
  const change: Request = { op: 'delete', handle: NOTES, id: 'x' };
  for (const request of [count, change, { op: 'exportAll', handle: DATABASE, call: 1 } as Request])
    await expect(ask(other.session, request)).rejects.toMatchObject({ code: 'load_failed' });
  expect(await ask(other.session, { op: 'kvGet', handle: VALUES, key: 'k' })).toBeUndefined();
  const near = new NearSession(other.session);
  expect(() => near.context(NOTES)).toThrow(expect.objectContaining({ code: 'load_failed' }));
  expect(() => near.execute(count)).toThrow(expect.objectContaining({ code: 'load_failed' }));
  // It begins with the change, and needs no other request for that.
  const live = { op: 'live', handle: NOTES, live: 1, spec: { kind: 'count', archived: false } };
  await ask(other.session, { ...live, throttle: 0 } as Request);
  const shown = () => other.events.filter(({ type }) => type === 'live');
  expect(shown()).toEqual([]);
  await client.replayAgain();
  await expect.poll(shown).toHaveLength(1);
  expect(await ask(other.session, count)).toBe(1);
});

test('a later change of another client waits for one that lacks its code', async () => {
  const engine = await lackingCode();
  const late = join(engine, 'b').session;
  const update: Request = { op: 'update', handle: NOTES, id: 'x', body: '{"n":9}' };
  const changes = [{ request: { ...update, now: 5 }, number: 1, turn: EPOCH_SPAN * 9 }];
  expect(codesOf(await late.replay(changes))).toEqual([[0, 'load_failed']]);
  expect(await client.replayAgain()).toEqual(new Map());
  expect(await late.replay(changes)).toEqual(new Map());
  expect(await stored()).toEqual(['{"n":9}']);
});

test('the changes of a client that has left without its code go with it', async () => {
  const engine = await lackingCode();
  const other = join(engine, 'b').session;
  await expect(ask(other, count)).rejects.toMatchObject({ code: 'load_failed' });
  client.leave();
  await expect.poll(() => ask(other, count).catch(() => undefined)).toBe(1);
});

test('the changes of a client that leaves amid its replay hold nobody up', async () => {
  for (let moment = 0; moment < 40; moment++) {
    driver = faultyDriver();
    await crashWith(patch('x', 2));
    const engine = await takeOver(driver, clock);
    const other = join(engine, 'b').session;
    expect(await ask(other, count)).toBe(1);
    driver.inject({ call: 'getMany', when: 'before', times: 50 });
    const joined = client.join(engine);
    for (let tasks = 0; tasks < moment; tasks++) await Promise.resolve();
    client.leave();
    await joined;
    driver.heal();
    const counted = () => ask(other, count).catch((error: unknown) => error);
    await expect.poll(counted, { message: `left after ${moment} tasks` }).toBe(1);
  }
});

const key = ['gone', 1] as const;
const push = (n: number): Request => ({
  ...{ op: 'kvPush', handle: VALUES, key: 'list', body: `${n}` },
});

/** A running engine, and a record that a page has left since. */
async function withRecord() {
  const engine = await takeOver(driver, clock);
  await engine.recovery.over;
  const { session } = join(engine, 'b');
  await ask(session, push(0));
  const storage = await driver.open('db', { damaged: () => undefined });
  const changes = [{ number: 1, turn: 1, request: push(1) }];
  const value = { client: key[0], ending: key[1], opened, changes };
  await storage.write([{ type: 'put', store: 'recovery', key: [...key], value }], 'relaxed');
  const list = async () => (await ask(session, { op: 'kvGet', handle: VALUES, key: 'list' })).body;
  return { engine, storage, list };
}

test('a record is applied once, however many pages end at a time', async () => {
  const { engine, list } = await withRecord();
  const loading = vi.spyOn(parts, 'load');
  const { load } = Object.getPrototypeOf(parts) as typeof parts;
  let goOn = (): void => undefined;
  loading.mockImplementation(async () => {
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    return loadFailed(new Error('offline'));
  });
  loading.mockImplementationOnce((name) => load.call(parts, name));
  for (let pages = 0; pages < 2; pages++) engine.takeOver();
  await settled();
  goOn();
  await clock.advance(60_000);
  expect(await list()).toBe('[0,1]');
});

test('a record that its page removes as it returns holds nobody up', async () => {
  const { engine, storage, list } = await withRecord();
  vi.spyOn(parts, 'load').mockImplementationOnce(async () => loadFailed(new Error('offline')));
  engine.takeOver();
  await settled();
  await expect(list()).rejects.toMatchObject({ code: 'load_failed' });
  await storage.write([{ type: 'delete', store: 'recovery', key: [...key] }], 'relaxed');
  await clock.advance(60_000);
  expect(await list()).toBe('[0]');
});
