import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadFailed } from '../../src/errors/errors.ts';
import { Database, memoryDriver } from '../../src/index.ts';
import { BaseClient } from '../../src/page/client/base-client.ts';
import type { Connect } from '../../src/page/connection/leadership.ts';
import { connectInThread } from '../../src/page/connection/thread-engine.ts';
import { LiveLog } from '../contract/live-log.ts';

const failed = { name: 'CairnError', code: 'load_failed' };

let db: BaseClient;
let settings: ConstructorParameters<typeof BaseClient>[0];
/** Whether the code of the engine can be loaded. */
let isOnline: boolean;
/** How often it was requested. */
let attempts: number;

const connect: Connect = async (given) => {
  attempts++;
  await new Promise((resolve) => setImmediate(resolve));
  if (!isOnline) loadFailed(new Error('offline'));
  return connectInThread(given);
};

beforeEach(() => {
  isOnline = false;
  attempts = 0;
  const name = `failed loads ${Math.random()}`;
  settings = { name, storage: memoryDriver(), durability: 'relaxed' };
  db = new BaseClient(settings, connect);
});

afterEach(() => db.close());

const documents = () =>
  new db.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });

test('calls reject while the code of the engine does not load; the next call retries', async () => {
  const things = documents();
  const live = things.live({});
  const calls = [things.insert({ n: 1 }), things.ready, live.ready, db.ready, db.collections()];
  for (const outcome of await Promise.allSettled(calls))
    expect(outcome).toMatchObject({ status: 'rejected', reason: failed });
  expect(db.status.state).toBe('idle');
  const values = new db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });
  await expect(values.get('visits')).rejects.toMatchObject(failed);
  await db.save();
  isOnline = true;
  expect(await things.insert({ n: 2 })).toMatchObject({ n: 2 });
  expect(await values.increase('visits', 1)).toBe(1);
  expect((await live.ready).data.map(({ n }) => n)).toEqual([2]);
  expect(db.status.state).toBe('open');
});

test('a live query requests the code once, and again when it is read again', async () => {
  const things = documents();
  await expect(things.count()).rejects.toMatchObject(failed);
  const query = things.live({});
  const before = attempts;
  const log = new LiveLog(query);
  expect(await log.error()).toMatchObject(failed);
  expect(attempts).toBe(before + 1);
  log.stop();
  isOnline = true;
  await things.insert({ n: 1 });
  const again = new LiveLog(query);
  expect((await again.until(({ length }) => length === 1))[0]?.n).toBe(1);
  again.stop();
});

test('a collection of another version rejects its calls, and is migrated once the code loads', async () => {
  const old = new Database(settings as { name: string; storage: ReturnType<typeof memoryDriver> });
  const before = new old.Collection<{ n: number }>({ name: 'things', type: 'DOCUMENT_BASED' });
  await before.insert({ _id: 'a', n: 1 });
  await old.close();
  const things = new db.Collection<{ n: number; m: number }>({
    name: 'things',
    type: 'DOCUMENT_BASED',
    version: 2,
    migrate: { 2: (thing) => ({ ...thing, m: 2 }) },
  });
  await expect(things.get('a')).rejects.toMatchObject(failed);
  await expect(things.get('a')).rejects.toMatchObject(failed);
  isOnline = true;
  expect(await things.get('a')).toMatchObject({ n: 1, m: 2 });
});

test('close ends a client that has reached no engine, without another attempt', async () => {
  const things = documents();
  await expect(things.count()).rejects.toMatchObject(failed);
  const before = attempts;
  await db.close();
  expect(attempts).toBe(before);
  expect(db.status.state).toBe('closed');
  await expect(things.count()).rejects.toMatchObject({ code: 'closed' });
});
