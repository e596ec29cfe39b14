import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ReplicaRequests } from '../../src/engine/replication/replica-requests.ts';
import { Database, type StandardSchema } from '../../src/index.ts';
import { http } from '../../src/replication/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { closeDevices, Device } from './device.ts';
import { replicateAt, rest } from './environment.ts';
import { TestClock, turn } from './fetching/test-clock.ts';
import { MemoryRemote } from './memory-remote.ts';

let remote: MemoryRemote;
let names = 0;
beforeEach(() => {
  remote = new MemoryRemote();
});
afterEach(closeDevices);

test('pages that never end are no answer', async () => {
  const page = {
    changes: [{ id: 'a', version: '1', document: { _id: 'a' } }],
    ...{ checkpoint: 1, more: true },
  };
  let pulls = 0;
  remote.pull = async () => {
    // Else a client that asks for ever would never let the test end.
    if (++pulls > 10) throw new TypeError('enough');
    return page;
  };
  const device = new Device(remote);
  await expect(device.settled()).rejects.toMatchObject({ code: 'answer_invalid' });
});

test('the longest id that a server takes comes back to all clients', async () => {
  const handler = createHandler({ store: memory(), authorize: () => true });
  const connect = () =>
    http({
      url: 'https://example.com/sync/orders',
      fetch: (url, init) => handler(new Request(url, init)),
    });
  const [a, b] = [new Device(connect()), new Device(connect())];
  await a.orders.insert({ _id: 'x'.repeat(1500) });
  await a.settled();
  await b.settled();
  expect(Object.keys(await b.all())).toEqual(['x'.repeat(1500)]);
});

test('a longer page than requested leaves the event loop its turns', async () => {
  const size = 3000;
  /** Documents that were read since the last turn, and the most in one. */
  let reads = 0;
  let most = 0;
  const read = <T>(document: T): T => {
    most = Math.max(most, ++reads);
    return document;
  };
  vi.stubGlobal(
    'MessageChannel',
    class extends MessageChannel {
      constructor() {
        super();
        // Each turn that is waited for takes one.
        reads = 0;
      }
    },
  );
  const { pull } = remote;
  remote.pull = async (after) => {
    const page = await pull.call(remote, after, { limit: size });
    const changes = page.changes.map(({ id, version, document }) => ({
      ...{ id, version },
      get document() {
        return read(document);
      },
    }));
    return { ...page, changes };
  };
  const schema: StandardSchema<object> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => ({ value: read(value as object) }),
    },
  };
  const clock = new TestClock();
  // Each look shows that the task has taken long.
  clock.elapsed = () => (elapsed += 20);
  let elapsed = 0;
  const db = new Database({ name: `long page ${++names}`, storage: 'memory' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED', schema });
  const execute = vi.spyOn(ReplicaRequests.prototype, 'execute');
  const sync = replicateAt(clock, orders, remote);
  // A first pull is applied at once.
  await sync.settled();
  for (let id = 0; id < size; id++) remote.write(`d${id}`, { id });
  sync.resume();
  await sync.settled();
  await sync.stop();
  const requests = execute.mock.calls.map(([request]) => request as { rows?: readonly unknown[] });
  execute.mockRestore();
  vi.unstubAllGlobals();
  expect(await orders.count({})).toBe(size);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(size / 5);
  expect(requests.map(({ rows = [] }) => rows.length).filter(Boolean)).toEqual([1000, 1000, 1000]);
  await db.close();
});

describe('at the time of a test', () => {
  let db: Database;
  const clock = new TestClock();
  beforeEach(() => {
    db = new Database({ name: `sloppy ${++names}`, storage: 'memory' });
  });
  afterEach(() => db.close());

  test('a row that the server has delayed is sent again, though nothing else happens', async () => {
    const orders = new db.Collection<{ _id: string }>({ name: 'orders', type: 'DOCUMENT_BASED' });
    const { push } = remote;
    remote.push = async (rows) => {
      remote.push = push;
      return rows.map(() => ({ rejected: { reason: 'later', retry: true } }));
    };
    await orders.insert({ _id: 'a' });
    const sync = replicateAt(clock, orders, remote);
    await rest();
    expect(sync.status).toMatchObject({ state: 'idle', pending: 1, rejected: 0 });
    clock.advance(60_000);
    await rest();
    expect(remote.documents()).toEqual([{ _id: 'a' }]);
    await sync.stop();
  });

  test('a server whose watch fails at once is asked less and less', async () => {
    const orders = new db.Collection<{ _id: string }>({ name: 'orders', type: 'DOCUMENT_BASED' });
    let pulls = 0;
    remote.before = () => void pulls++;
    remote.watch = () => {
      throw new TypeError('there is no such route');
    };
    const sync = replicateAt(clock, orders, remote);
    await rest();
    for (let tenths = 0; tenths < 600; tenths++) {
      clock.advance(100);
      for (let turns = 0; turns < 4; turns++) await turn();
    }
    expect(pulls).toBeLessThan(12);
    await sync.stop();
  });
});
