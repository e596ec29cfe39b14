import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SessionHandles } from '../../src/engine/sessions/session-handles.ts';
import { connect, Database, type DocumentCollection } from '../../src/index.ts';
import { ClientChannel } from '../../src/page/connection/client-channel.ts';
import { INSPECTION } from '../../src/page/sending/observed-call.ts';
import { fakeWorker } from '../contract/fake-worker.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Things = DocumentCollection<{ n: number }>;

const ROUNDS = 5;
const EACH = 40;
const documents = {
  name: 'things',
  type: 'DOCUMENT_BASED',
  indexes: ['n'],
  caching: true,
} as const;

let db: Database;
/** How many handles of a client have been given free. */
let freed: (client?: object) => number;

beforeEach(() => {
  db = new Database({ name: `collected ${Math.random()}`, storage: 'memory' });
  const free = vi.spyOn(ClientChannel.prototype, 'freeHandle');
  freed = (client: any = db) =>
    free.mock.contexts.filter((channel) => channel === client.runtime.channel).length;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await db.close();
});

const handles = async () => (await (db as any).loadRuntime())[INSPECTION].handles.length as number;

/**
 * Makes handles that nobody has once it returns; in a function of its own, so that no frame has
 * them either.
 */
async function use(made: WeakRef<object>[], then: (handle: any) => unknown): Promise<void> {
  for (let count = 0; count < EACH; count++) {
    const handle = new db.Collection<{ n: number }>({ ...documents });
    made.push(new WeakRef(handle));
    await then(handle);
  }
}

/** Collects garbage until the handles are gone, or for so many turns of the event loop. */
async function collect(made: readonly WeakRef<object>[], left: number): Promise<number> {
  let alive = made.length;
  for (let turn = 0; turn < 100 && alive > left; turn++) {
    // Objects that a job has looked at stay until its end.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
    alive = made.filter((handle) => handle.deref()).length;
  }
  return alive;
}

test.each<[string, (handle: any) => unknown]>([
  ['constructed', () => undefined],
  ['awaited', (handle) => handle.ready],
  ['written', (handle) => handle.insert({ n: 1 })],
  ['listened to', (handle) => handle.on('save', () => undefined)],
  [
    'read by a live query without readers',
    async (handle) => {
      const live = handle.live({ n: 1 });
      const stop = live.subscribe(() => undefined);
      await live.ready;
      stop();
      handle.liveCount();
    },
  ],
  ['read without promises', (handle) => handle.ready.then(() => handle.sync.count())],
  ['in a transaction', (handle) => db.transaction((tx) => tx(handle as Things).insert({ n: 2 }))],
])('a handle that nobody has is collected: %s', async (_, then) => {
  const kept = new db.Collection<{ n: number }>({ ...documents });
  await kept.ready;
  const made: WeakRef<object>[] = [];
  await use(made, then);
  expect(await collect(made, 0)).toBe(0);
  await expect.poll(handles).toBe(1);
  expect(await kept.find({ n: 7 })).toBeUndefined();
});

test('the engine keeps no more handles than were alive at once', async () => {
  const opened = new Set<number>();
  const open = vi.spyOn(SessionHandles.prototype, 'open');
  const made: WeakRef<object>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await use(made, (handle) => handle.insert({ n: round }));
    await collect(made, 0);
    expect(freed()).toBe(round * EACH);
    for (const [request] of open.mock.calls) opened.add(request.handle);
  }
  expect(opened.size).toBeLessThanOrEqual(EACH + 1);
  const last = new db.Collection<{ n: number }>({ ...documents });
  expect(await last.count()).toBe(ROUNDS * EACH);
  expect((await last.explain({ n: 1 })).plan.kind).toBe('index');
});

test('a number is not taken from a handle of a collection that is being dropped', async () => {
  const made: WeakRef<object>[] = [];
  await use(made, (handle) => handle.insert({ n: 1 }));
  await collect(made, 0);
  const dropping = new db.Collection<{ n: number }>({ ...documents, activate_drop_method: true });
  expect(freed()).toBeGreaterThan(1);
  const dropped = dropping.Drop();
  const next = new db.Collection<{ n: number }>({ ...documents });
  const inserted = next.insert({ n: 2 });
  await dropped;
  await inserted;
  const later = new db.Collection<{ n: number }>({ ...documents });
  expect(await later.count()).toBe(1);
  expect(await next.count()).toBe(1);
  await expect(dropping.count()).rejects.toMatchObject({ code: 'collection_dropped' });
});

test('a handle in the place of another has none of its documents', async () => {
  const client = await connect({ name: 'places', storage: 'memory', worker: fakeWorker });
  const settings = { ...documents, shared_documents: true } as const;
  const made: WeakRef<object>[] = [];
  const read = async () => {
    const things = new client.Collection<{ n: number }>({ ...settings });
    made.push(new WeakRef(things));
    if (made.length === 1) await things.insert({ n: 1 });
    // Once more: the second confirms what the first has got.
    return [await things.filter({}), await things.filter({})];
  };
  const first = await read();
  expect(await collect(made, 0)).toBe(0);
  expect(await read()).toEqual(first);
  expect(freed(client)).toBe(1);
  await client.close();
});

test('a handle that waits for the first call of a server is collected too', async () => {
  const opened = vi.spyOn(ClientChannel.prototype, 'newHandle');
  const made: WeakRef<object>[] = [];
  await use(made, () => undefined);
  expect(await collect(made, 0)).toBe(0);
  const kept = new db.Collection<{ n: number }>({ ...documents });
  expect(await kept.count()).toBe(0);
  expect(opened).toHaveBeenCalledTimes(1);
});
