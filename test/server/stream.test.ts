import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createHandler, memory, nodeListener } from '../../src/server/index.ts';
import { ask, refusal, request, URL_OF } from './requests.ts';

type Event = { at: number; after: string; page: { changes: any[]; checkpoint: string } };

const START = '0.0';

/** Reads the events of a stream, one by one. */
function reading(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  const next = async (): Promise<Event | undefined> => {
    for (;;) {
      const end = rest.indexOf('\n');
      if (end < 0) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        rest += decoder.decode(value, { stream: true });
        continue;
      }
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      if (line.startsWith('data: ')) return JSON.parse(line.slice(6));
    }
  };
  return { next, cancel: () => reader.cancel() };
}

const insert = (handler: Parameters<typeof ask>[0], collection: string, id: string, more = {}) =>
  ask(handler, collection, 'push', {
    rows: [{ id, base: null, key: `d.${id}`, document: { _id: id, ...more } }],
  });

const opened = (collections: object[]) => request(URL_OF('orders', 'stream'), { collections });

async function checkpointOf(handler: Parameters<typeof ask>[0], collection: string) {
  return (await ask(handler, collection, 'pull', { limit: 1000 })).checkpoint as string;
}

test('a stream tells of the changes of all its collections, in order', async () => {
  const handler = createHandler({ store: memory(), authorize: () => true });
  await insert(handler, 'orders', 'a');
  await insert(handler, 'notes', 'n');
  const after = await checkpointOf(handler, 'orders');
  const response = await handler(
    opened([
      { name: 'orders', after },
      { name: 'notes', after: await checkpointOf(handler, 'notes') },
    ]),
  );
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = reading(response);
  await insert(handler, 'orders', 'b');
  const first = (await events.next()) as Event;
  expect([first.at, first.after]).toEqual([0, after]);
  expect(first.page.changes).toMatchObject([{ id: 'b', document: { _id: 'b' } }]);
  await insert(handler, 'notes', 'm');
  expect(await events.next()).toMatchObject({ at: 1, page: { changes: [{ id: 'm' }] } });
  await insert(handler, 'orders', 'c');
  expect(await events.next()).toMatchObject({ at: 0, after: first.page.checkpoint });
  await events.cancel();
});

test('what a user may not read comes as a deletion, and each has another view', async () => {
  const handler = createHandler({
    store: memory(),
    authorize: ({ headers }) => {
      const user = headers.get('x-user');
      return user === 'root' || { read: (document: any) => document.owner === user };
    },
  });
  const asUser = (user: string) => (made: Request) => {
    const headers = new Headers(made.headers);
    headers.set('x-user', user);
    return handler(new Request(made, { headers }));
  };
  await insert(asUser('root'), 'orders', 'a');
  const after = await checkpointOf(asUser('root'), 'orders');
  const open = async (user: string) =>
    reading(await asUser(user)(opened([{ name: 'orders', after }])));
  const [ada, bob, root] = await Promise.all([open('ada'), open('bob'), open('root')]);
  await insert(asUser('root'), 'orders', 'b', { owner: 'ada' });
  expect((await ada.next())?.page.changes).toMatchObject([{ document: { owner: 'ada' } }]);
  expect((await bob.next())?.page.changes).toMatchObject([{ id: 'b', deleted: true }]);
  expect((await root.next())?.page.changes).toMatchObject([{ document: { owner: 'ada' } }]);
  await Promise.all([ada.cancel(), bob.cancel(), root.cancel()]);
});

test('a stream is for those who may use each of its collections', async () => {
  const handler = createHandler({
    store: memory(),
    authorize: (_, collection) => collection !== 'secrets' && collection !== 'x',
  });
  const secret = [
    { name: 'orders', after: START },
    { name: 'secrets', after: START },
  ];
  expect((await refusal(handler, opened(secret)))[0]).toBe(403);
});

test.each([
  ['no list', { collections: 1 }],
  ['none', { collections: [] }],
  ['too many', { collections: Array(101).fill({ name: 'a', after: START }) }],
  ['no name', { collections: [{ after: START }] }],
  ['a bad name', { collections: [{ name: 'a\u0000', after: START }] }],
  ['no place', { collections: [{ name: 'orders' }] }],
  ['a line break', { collections: [{ name: 'orders', after: '1\ndata: {}' }] }],
])('a request with %s is refused', async (_, body) => {
  const handler = createHandler({ store: memory(), authorize: () => true });
  const [status] = await refusal(handler, request(URL_OF('orders', 'stream'), body));
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
});

test('a hundred streams at one place ask the store once, and leave nothing', async () => {
  const store = memory();
  const [watch, pull] = [vi.spyOn(store, 'watch'), vi.spyOn(store, 'pull')];
  const handler = createHandler({ store, authorize: () => true });
  await insert(handler, 'orders', 'a');
  const after = await checkpointOf(handler, 'orders');
  pull.mockClear();
  const streams = await Promise.all(
    Array.from({ length: 100 }, async () =>
      reading(await handler(opened([{ name: 'orders', after }]))),
    ),
  );
  const next = streams.map((one) => one.next());
  await insert(handler, 'orders', 'b');
  const told = await Promise.all(next);
  expect(told.map((one) => one?.page.changes[0].id)).toEqual(Array(100).fill('b'));
  expect([watch.mock.calls.length, pull.mock.calls.length]).toEqual([2, 1]);
  const signal = watch.mock.calls[1]?.[2] as AbortSignal;
  for (const one of streams.slice(1)) await one.cancel();
  expect(signal.aborted).toBe(false);
  await streams[0]?.cancel();
  await expect.poll(() => signal.aborted).toBe(true);
});

test('a store that fails ends the stream, and is reported', async () => {
  const store = memory();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const handler = createHandler({ store, authorize: () => true, onError });
  await insert(handler, 'orders', 'a');
  const after = await checkpointOf(handler, 'orders');
  const events = reading(await handler(opened([{ name: 'orders', after }])));
  vi.spyOn(store, 'pull').mockRejectedValue(new Error('disk'));
  await insert(handler, 'orders', 'b');
  expect(await events.next()).toBeUndefined();
  expect(errors).toMatchObject([{ message: 'disk' }]);
});

test('nodeListener sends events as they come, and hears when the client leaves', async () => {
  const store = memory();
  const watch = vi.spyOn(store, 'watch');
  const handler = createHandler({ store, authorize: () => true });
  await insert(handler, 'orders', 'a');
  const after = await checkpointOf(handler, 'orders');
  const server = createServer(nodeListener(handler)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const left = new AbortController();
  try {
    const response = await fetch(`http://127.0.0.1:${port}/orders/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ collections: [{ name: 'orders', after }] }),
      signal: left.signal,
    });
    const events = reading(response);
    await insert(handler, 'orders', 'b');
    expect(await events.next()).toMatchObject({ page: { changes: [{ id: 'b' }] } });
    await expect.poll(() => watch.mock.calls.length).toBe(2);
    left.abort();
    const signal = watch.mock.calls[1]?.[2] as AbortSignal;
    await expect.poll(() => signal.aborted).toBe(true);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
