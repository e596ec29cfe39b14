import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
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
