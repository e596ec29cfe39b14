import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import '../../src/replication/fetching/event-stream.ts'; // else it loads in real time
import { Database } from '../../src/index.ts';
import { holdConnection } from '../../src/platform/held-connections.ts';
import { PageLocks, ThreadLocks } from '../../src/platform/page-locks.ts';
import { CouchRemote } from '../../src/replication/couchdb/couch-remote.ts';
import { HttpRemote } from '../../src/replication/http.ts';
import type { RemoteFetch, Replication } from '../../src/replication/index.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { replicateAt, rest } from './environment.ts';
import { TestClock, turn } from './fetching/test-clock.ts';

const ORDERS = 'https://example.com/sync/orders';

/** A browser with six connections to a host, and Web Locks, for all its pages. */
class Browser {
  readonly locks = new ThreadLocks();
  /** Requests that have a connection, by the last part of their URL. */
  readonly open: string[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #serve: RemoteFetch;

  constructor(serve: RemoteFetch) {
    this.#serve = serve;
  }

  readonly fetch: RemoteFetch = async (url, init) => {
    const signal = init.signal as AbortSignal;
    const name = url.slice(url.lastIndexOf('/') + 1);
    while (this.open.length >= 6) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve());
      });
      signal.throwIfAborted();
    }
    this.open.push(name);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.open.splice(this.open.indexOf(name), 1);
      this.#waiting.shift()?.();
    };
    signal.addEventListener('abort', end);
    try {
      const response = await this.#serve(url, init);
      Object.defineProperty(response, 'url', { value: url });
      const { body } = response;
      if (!body) return response;
      const read = body.getReader();
      const counted = new ReadableStream({
        async pull(controller) {
          const { done, value } = await read.read();
          if (value) controller.enqueue(value);
          if (!done) return;
          end();
          controller.close();
        },
        cancel(why) {
          end();
          return read.cancel(why);
        },
      });
      const { status, headers } = response;
      return Object.defineProperty(new Response(counted, { status, headers }), 'url', {
        value: url,
      });
    } catch (error) {
      end();
      throw error;
    }
  };
}

// Long pages are unpacked by threads, in real time.
const handlerOf = () => createHandler({ store: memory(), authorize: () => true, keep: 0 });

let names = 0;
let clock: TestClock;
let open: { db: Database; sync: Replication }[];
beforeEach(() => {
  clock = new TestClock();
  open = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const { db, sync } of open) {
    await sync.stop();
    await db.close();
  }
});

/** A client of its own in a page. */
function clientOf<Place>(remote: Remote<Place>) {
  const db = new Database({ name: `connections ${++names}`, storage: 'memory' });
  const orders = new db.Collection({ name: 'orders', type: 'DOCUMENT_BASED' });
  const client = { db, orders, sync: replicateAt(clock, orders, remote as Remote) };
  open.push(client);
  return client;
}

async function pass(seconds: number): Promise<void> {
  await rest();
  for (let tenths = 0; tenths < seconds * 10; tenths++) {
    clock.advance(100);
    for (let turns = 0; turns < 10; turns++) await turn();
  }
  await rest();
}

const HOW = [
  ['a stream', true],
  ['long polls', false],
] as const;

test.for(HOW)('twelve clients of one browser hear of all changes: by %s', async ([, hasStream]) => {
  const handler = handlerOf();
  const browser = new Browser(async (url, init) =>
    init.method === 'GET' && !hasStream
      ? Response.json({})
      : handler(new Request(url, { ...init, signal: init.signal as AbortSignal })),
  );
  const { fetch, locks } = browser;
  const clients = Array.from({ length: 12 }, () =>
    clientOf(new HttpRemote({ url: ORDERS, headers: () => ({}), fetch, locks }, clock)),
  );
  await pass(1);
  for (const [n, { orders }] of clients.entries()) await orders.insert({ _id: `${n}` });
  await pass(35);
  for (const { orders, sync } of clients) {
    expect(sync.status).toMatchObject({ state: 'idle', pending: 0 });
    expect(await orders.count({})).toBe(12);
  }
  expect(browser.open).toEqual(Array(3).fill(hasStream ? 'stream' : 'watch'));
  expect(clients.filter(({ sync }) => !sync.status.polls)).toHaveLength(3);
});

test('who polls goes over to the stream as soon as one is free, and says so', async () => {
  const handler = handlerOf();
  const {
    fetch,
    locks,
    open: requests,
  } = new Browser((url, init) => handler(new Request(url, init as RequestInit)));
  const frees: (() => void)[] = [];
  for (let other = 0; other < 3; other++)
    void holdConnection(ORDERS, () => new Promise<void>((resolve) => frees.push(resolve)), locks);
  const { sync } = clientOf(new HttpRemote({ url: ORDERS, headers: {}, fetch, locks }, clock));
  const told: boolean[] = [];
  sync.on('status', ({ polls }) => told.push(polls));
  await pass(1);
  expect(sync.status).toMatchObject({ state: 'idle', polls: true });
  expect(told.at(-1)).toBe(true);
  expect(requests).toEqual([]);
  frees[1]?.();
  await pass(16);
  expect(sync.status).toMatchObject({ state: 'idle', polls: false });
  expect(requests).toEqual(['stream']);
});

test('clients of a page with the same headers share a stream, others do not', async () => {
  const handler = handlerOf();
  const {
    fetch,
    locks,
    open: requests,
  } = new Browser((url, init) => handler(new Request(url, init as RequestInit)));
  for (const user of ['ada', 'ada', 'ben', 'ada']) {
    const headers = { accept: '*/*', authorization: user };
    clientOf(new HttpRemote({ url: ORDERS, headers, fetch, locks }, clock));
  }
  await pass(2);
  expect(requests).toEqual(['stream', 'stream']);
});

test('long polls of CouchDB leave connections to others', async () => {
  const polls: string[] = [];
  const serve: RemoteFetch = async (url, { signal }) => {
    if (url.includes('longpoll')) {
      polls.push(url);
      await new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason)),
      );
    }
    if (url.includes('_local')) return Response.json({ _id: '_local/cairn', history: 'a' });
    return Response.json({ results: [], last_seq: '1', pending: 0 });
  };
  const { fetch, locks } = new Browser(serve);
  const clients = Array.from({ length: 7 }, (_, n) => {
    const settings = { headers: {}, fetch, locks, selectorOf: () => undefined };
    return clientOf(new CouchRemote({ url: `https://example.com/${n}`, ...settings }, clock));
  });
  await pass(1);
  expect(polls).toHaveLength(3);
  for (const { sync } of clients) expect(sync.status.state).toBe('idle');
});

test('a question that is never answered leaves the client its polls', async () => {
  const handler = handlerOf();
  const asked: string[] = [];
  const fetch: RemoteFetch = (url, init) => {
    asked.push(init.method as string);
    if (init.method === 'GET') return new Promise(() => undefined);
    return Promise.resolve(handler(new Request(url, init)));
  };
  const remotes = [1, 2].map(() => new HttpRemote({ url: ORDERS, headers: {}, fetch }, clock));
  const [one, two] = remotes.map((remote) => clientOf(remote)) as [
    ReturnType<typeof clientOf>,
    ReturnType<typeof clientOf>,
  ];
  await one.orders.insert({ _id: 'a', n: 1 });
  await pass(20);
  await one.orders.patch('a', { $inc: { n: 1 } });
  await pass(20);
  expect(await two.orders.get('a')).toMatchObject({ n: 2 });
});

/** Runs what keeps connections. @returns how many of five it runs. */
async function holdFive(locks?: PageLocks | ThreadLocks): Promise<number> {
  let held = 0;
  const ends: (() => void)[] = [];
  const holding = Array.from({ length: 5 }, () =>
    holdConnection(
      ORDERS,
      () => {
        held++;
        return new Promise<void>((resolve) => ends.push(resolve));
      },
      locks,
    ),
  );
  await rest();
  for (const end of ends) end();
  expect((await Promise.all(holding)).filter(Boolean)).toHaveLength(held);
  return held;
}

test('three connections are kept, and are free again when their requests end or fail', async () => {
  const locks = new ThreadLocks();
  expect(await holdFive(locks)).toBe(3);
  const failing = () => Promise.reject(new Error('no network'));
  await expect(holdConnection(ORDERS, failing, locks)).rejects.toThrow('no network');
  expect(await holdFive(locks)).toBe(3);
});

test('Web Locks that throw, reject or are missing cost nothing but the other tabs', async () => {
  const refuse = () => {
    throw new DOMException('no', 'SecurityError');
  };
  const query = async () => ({ held: [] });
  for (const web of [
    { request: refuse, query },
    { request: async () => refuse(), query },
    undefined,
  ])
    expect(await holdFive(new PageLocks(web as never))).toBe(3);
});

test.each([
  ['http/1.1', 3],
  ['', 3],
  ['h2', 5],
  ['h3', 5],
])('of a host that speaks "%s" %i of five', async (nextHopProtocol, held) => {
  const entry = { name: `${ORDERS}/pull`, nextHopProtocol };
  const other = { name: 'https://other.example.com/', nextHopProtocol: 'h2' };
  vi.spyOn(performance, 'getEntriesByType').mockReturnValue([other, entry] as never);
  expect(await holdFive(new ThreadLocks())).toBe(held);
});

test('where the runtime is no browser, there is no limit', async () => {
  expect(await holdFive()).toBe(5);
});
