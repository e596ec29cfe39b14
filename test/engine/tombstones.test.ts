import { beforeEach, expect, test } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { plainSettings } from '../../src/protocol/settings.ts';
import { type FaultyDriver, faultyDriver, outage } from '../storage/faulty-driver.ts';
import { FakeClock } from './fake-clock.ts';

const DAY_MS = 24 * 3600 * 1000;

let driver: FaultyDriver;
let clock: FakeClock;
let engine: Engine;
let clients = 0;

beforeEach(async () => {
  driver = faultyDriver();
  clock = new FakeClock();
  engine = await begin();
});

async function begin(): Promise<Engine> {
  return new Engine({
    storage: await driver.open('test', { damaged: () => undefined }),
    storageKind: 'indexeddb',
    durability: 'relaxed',
    clock,
    newId: (length) => ''.padEnd(length, '_'),
  });
}

/** The answers to requests of a new client. */
async function ask(name: string, ...requests: readonly object[]): Promise<unknown[]> {
  const session = engine.join(() => undefined, `client ${++clients}`);
  session.openAll([[1, plainSettings(name, 'KEY_VALUE_BASED')]]);
  const batch = requests.map((request) => ({ handle: 1, ...request })) as Request[];
  const { values, failures } = await session.execute(batch, [[1, 1]]);
  for (const error of failures?.values() ?? []) throw error;
  session.leave();
  return values;
}

const make = (name: string, ...then: readonly object[]) =>
  ask(name, { op: 'kvSet', key: 'a', body: '1' }, { op: 'save' }, ...then);
const drop = (name: string) => make(name, { op: 'drop' });

/** Names of the stored manifests, after a restart of the engine. */
async function left(): Promise<string[]> {
  await engine.stop();
  engine = await begin();
  const storage = await driver.open('test', { damaged: () => undefined });
  const keys = await storage.keys('collections', []);
  await storage.close();
  return keys.map(([name]) => String(name));
}

test('a tombstone keeps its watermarks for a week, then the next drop removes it', async () => {
  await drop('a');
  expect(await left()).toEqual(['a']);
  await clock.advance(6 * DAY_MS);
  await drop('b');
  expect(await left()).toEqual(['a', 'b']);
  await clock.advance(2 * DAY_MS);
  await drop('c');
  expect(await left()).toEqual(['b', 'c']);
});

test('a collection made anew under the name is not removed', async () => {
  await drop('open');
  await drop('saved');
  await clock.advance(8 * DAY_MS);
  await make('saved');
  await left();
  await make('open');
  await drop('c');
  expect(await left()).toEqual(['c', 'open', 'saved']);
  expect(await ask('open', { op: 'kvGet', key: 'a' })).toMatchObject([{ body: '1' }]);
});

test('a tombstone with a backup is not removed', async () => {
  await make('kept', { op: 'drop', backup: true });
  await clock.advance(99 * DAY_MS);
  await drop('c');
  expect(await left()).toEqual(['c', 'kept']);
});

test('estimate() leaves out tombstones', async () => {
  await drop('a');
  await make('b');
  const { values } = await engine
    .join(() => undefined)
    .execute([{ op: 'usage', handle: 0 } as Request]);
  expect(values[0]).toMatchObject([{ collection: 'b' }]);
});

test('a failed removal is reported and retried with the next drop', async () => {
  const errors: unknown[] = [];
  engine.join(({ type, detail }) => type === 'error' && errors.push(detail.error));
  await drop('a');
  await clock.advance(8 * DAY_MS);
  driver.inject({ call: 'keys', when: 'before', after: 1 });
  await drop('b');
  expect(await left()).toEqual(['a', 'b']);
  expect(errors).toEqual([outage]);
  await drop('c');
  expect(await left()).toEqual(['b', 'c']);
});
