import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { HttpRemote } from '../../src/replication/http.ts';
import type { RemoteFetch, Replication } from '../../src/replication/index.ts';
import { RemoteCalls } from '../../src/replication/rounds/remote-calls.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { replicateAt, rest } from './environment.ts';
import { TestClock } from './fetching/test-clock.ts';

const url = 'https://example.com/sync/orders';
const STEP = 16 * 1024;

let clock: TestClock;
beforeEach(() => {
  clock = new TestClock();
});

const callsOf = (fetch: RemoteFetch) =>
  new RemoteCalls(
    new HttpRemote({ url, headers: {}, fetch }, clock) as never,
    new AbortController().signal,
    clock,
  );

/** How a call has ended, if it has. */
function endOf(call: Promise<unknown>): { value?: unknown; error?: unknown } {
  const end: { value?: unknown; error?: unknown } = {};
  call.then(
    (value) => {
      end.value = value;
    },
    (error) => {
      end.error = error;
    },
  );
  return end;
}

test('a page goes on as long as its bytes come, and fails a minute behind the last', async () => {
  let put: (text: string) => void = () => undefined;
  const body = new ReadableStream({
    start(controller) {
      put = (text) => controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const headers = { 'content-type': 'application/json' };
  const end = endOf(callsOf(async () => new Response(body, { headers })).pull(undefined));
  await rest();
  for (let times = 0; times < 30; times++) {
    clock.advance(50_000);
    put(' '.repeat(STEP));
    await rest();
  }
  expect(end).toEqual({});
  // Single bytes keep nothing open.
  for (let times = 0; times < 3; times++) {
    clock.advance(25_000);
    put(' ');
    await rest();
  }
  expect(end.error).toMatchObject({ code: 'remote_timeout' });
});

test('what is sent has a minute, and a second more for 16 kB', async () => {
  const sent: ((response: Response) => void)[] = [];
  const calls = callsOf(() => new Promise((answer) => sent.push(answer)));
  const rowOf = (id: string) => ({
    ...{ id, base: undefined, key: `d.${id}` },
    document: { _id: id, text: 'x'.repeat(40 * STEP) },
  });
  // Each is a request.
  const end = endOf(calls.push([rowOf('1'), rowOf('2'), rowOf('3')] as never));
  for (const id of ['1', '2']) {
    await rest();
    clock.advance(99_000);
    sent.shift()?.(Response.json({ results: [{ version: id }] }));
  }
  await rest();
  expect(end).toEqual({});
  clock.advance(102_000);
  await rest();
  expect(end.error).toMatchObject({ code: 'remote_timeout' });
});

const replications: { db: Database; sync: Replication }[] = [];
afterEach(async () => {
  for (const { db, sync } of replications.splice(0)) {
    await sync.stop();
    await db.close();
  }
});

test('a network that breaks whatever is larger carries all documents in the end', async () => {
  const handler = createHandler({ store: memory(), authorize: () => true });
  let breaks = 0;
  const fetch: RemoteFetch = async (at, init) => {
    if (at.endsWith('push') && (init.body as string).length > 100_000) {
      breaks++;
      throw new TypeError('The connection was reset.');
    }
    return handler(new Request(at, init));
  };
  const db = new Database({ name: 'slow network', storage: 'memory' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
  const text = 'x'.repeat(10_000);
  await orders.insertMany(Array.from({ length: 40 }, (_, n) => ({ _id: `${n}`, text })));
  const sync = replicateAt(
    clock,
    orders,
    new HttpRemote({ url, headers: {}, fetch }, clock) as never,
  );
  replications.push({ db, sync });
  // Its code loads in real time.
  await expect.poll(() => breaks).toBe(1);
  for (let minutes = 0; minutes < 60 && sync.status.pending > 0; minutes++) {
    await rest();
    clock.advance(60_000);
    await rest();
  }
  expect(sync.status).toMatchObject({ state: 'idle', pending: 0 });
});
