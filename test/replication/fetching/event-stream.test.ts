import { afterEach, expect, test, vi } from 'vitest';
import '../../../src/replication/fetching/event-stream.ts'; // else it loads in real time
import { HttpRemote } from '../../../src/replication/http.ts';
import type { RemoteFetch } from '../../../src/replication/index.ts';
import { stopped } from '../../../src/replication/loop/replication-status.ts';
import type { PulledScope } from '../../../src/replication/protocol/remote.ts';
import { createHandler, type Handler, memory } from '../../../src/server/index.ts';
import { TestClock, turn } from './test-clock.ts';

const ended = new AbortController();
afterEach(() => {
  ended.abort();
  vi.restoreAllMocks();
});

interface Answers {
  /** Answers a stream in place of the server. */
  stream?: ((init: RequestInit) => Promise<Response> | Response) | undefined;
  /** What it says that it can do. */
  abilities?: object | undefined;
}

/** Remotes of collections at one server, which counts the requests. */
function site(answers: Answers = {}) {
  const handler: Handler = createHandler({ store: memory(), authorize: () => true, keep: 0 });
  const calls: string[] = [];
  const streams: AbortSignal[] = [];
  const fetch: RemoteFetch = async (url, init) => {
    const call = init.method === 'GET' ? 'GET' : url.slice(url.lastIndexOf('/') + 1);
    calls.push(call);
    if (call === 'stream' && init.signal) streams.push(init.signal);
    if (call === 'stream' && answers.stream) return answers.stream(init);
    if (call === 'GET' && answers.abilities) return Response.json(answers.abilities);
    return handler(new Request(url, init));
  };
  const clock = new TestClock();
  const headers = {};
  const remoteOf = (name: string) =>
    new HttpRemote({ url: `https://example.com/sync/${name}`, headers, fetch }, clock);
  let keys = 0;
  const change = async (name: string, id: string) => {
    const row = { id, base: null, key: `d.${++keys}`, document: { _id: id } };
    await handler(
      new Request(`https://example.com/sync/${name}/push`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ rows: [row] }),
      }),
    );
  };
  const count = (call: string) => calls.filter((one) => one === call).length;
  /** Whether a stream is open. */
  const isOpen = () => streams.some(({ aborted }) => !aborted);
  return { clock, remoteOf, change, count, calls, isOpen };
}

type Remote = HttpRemote;
const ASK = { limit: 100, signal: new AbortController().signal };

/** Waits for news; time passes for what begins. */
async function hear(
  remote: Remote,
  after: string,
  clock: TestClock,
  signal = ASK.signal,
  scopes?: readonly PulledScope[],
) {
  const watching = remote.watch(after, { signal, scopes })[Symbol.asyncIterator]();
  let isOver = false;
  const next = watching.next().finally(() => {
    isOver = true;
  });
  next.catch(() => undefined);
  const pass = async (ms: number, times = 1) => {
    for (let time = 0; time < times && !isOver; time++) {
      for (let turns = 0; turns < 20; turns++) await turn();
      clock.advance(ms);
      for (let turns = 0; turns < 20; turns++) await turn();
    }
  };
  await pass(30, 3); // code loads, the request is gathered
  return { next, pass, isOver: () => isOver };
}

test('news come with their changes: the next pull makes no request', async () => {
  const { clock, remoteOf, change, count } = site();
  const orders = remoteOf('orders');
  await change('orders', 'a');
  let { checkpoint } = await orders.pull(undefined, ASK);
  for (const id of ['b', 'c', 'd']) {
    const { next } = await hear(orders, checkpoint, clock);
    await change('orders', id);
    await next;
    const page = await orders.pull(checkpoint, ASK);
    expect(page.changes).toMatchObject([{ id }]);
    checkpoint = page.checkpoint;
  }
  expect([count('pull'), count('stream'), count('watch')]).toEqual([1, 1, 0]);
});

test('all collections of a server share one request', async () => {
  const { clock, remoteOf, change, count } = site();
  const [orders, notes] = [remoteOf('orders'), remoteOf('notes')];
  await change('orders', 'a');
  await change('notes', 'a');
  const places = await Promise.all([orders.pull(undefined, ASK), notes.pull(undefined, ASK)]);
  const [one, two] = await Promise.all([
    hear(orders, places[0].checkpoint, clock),
    hear(notes, places[1].checkpoint, clock),
  ]);
  await change('notes', 'n');
  await two.next;
  expect(one.isOver()).toBe(false);
  expect((await notes.pull(places[1].checkpoint, ASK)).changes).toMatchObject([{ id: 'n' }]);
  await change('orders', 'o');
  await one.next;
  // Where one begins a moment later, the request is made anew.
  expect(count('stream')).toBeLessThanOrEqual(2);
});

test('changes that this page has pulled itself are no news', async () => {
  const { clock, remoteOf, change, count } = site();
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const first = await orders.pull(undefined, ASK);
  const gone = new AbortController();
  const begun = await hear(orders, first.checkpoint, clock, gone.signal);
  gone.abort(new Error('a round begins'));
  await expect(begun.next).rejects.toThrow('a round begins');
  await change('orders', 'b');
  const second = await orders.pull(first.checkpoint, ASK);
  const { next, pass, isOver } = await hear(orders, second.checkpoint, clock);
  await pass(1000, 3);
  expect(isOver()).toBe(false);
  await change('orders', 'c');
  await next;
  expect((await orders.pull(second.checkpoint, ASK)).changes).toMatchObject([{ id: 'c' }]);
  expect(count('stream')).toBe(1);
});

test('two databases with one remote both hear of a change', async () => {
  const { clock, remoteOf, change, count } = site();
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const { checkpoint } = await orders.pull(undefined, ASK);
  const one = await hear(orders, checkpoint, clock);
  const two = await hear(orders, checkpoint, clock);
  await change('orders', 'b');
  await Promise.all([one.next, two.next]);
  for (const _ of [one, two])
    expect((await orders.pull(checkpoint, ASK)).changes).toMatchObject([{ id: 'b' }]);
  expect([count('stream'), count('watch')]).toEqual([1, 1]);
});

/** A stream whose bytes a test decides. */
function streamOf(send: (put: (text: string) => void, end: () => void) => void, headers = {}) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      send(
        (text) => controller.enqueue(encoder.encode(text)),
        () => controller.close(),
      );
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } });
}

test('a page at another place than an event pulls at most once, and keeps its stream', async () => {
  const answers: Answers = {};
  const { clock, remoteOf, change, count } = site(answers);
  let put: (text: string) => void = () => undefined;
  answers.stream = () =>
    streamOf((given) => {
      put = given;
      put(':\n\n');
    });
  const orders = remoteOf('orders');
  const places: string[] = [];
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    await change('orders', id);
    places.push((await orders.pull(places.at(-1), ASK)).checkpoint);
  }
  const event = (from: number, to: number) => {
    const changes = [{ id: 'x', version: '1', document: { _id: 'x' } }];
    const page = { changes, checkpoint: places[to], more: false };
    put(`data: ${JSON.stringify({ at: 0, after: places[from], page })}\n\n`);
  };
  const gone = new AbortController();
  const begun = await hear(orders, places[0] as string, clock, gone.signal);
  gone.abort(new Error('a round begins'));
  await expect(begun.next).rejects.toThrow('a round begins');
  // Its round has pulled two changes, which the stream brings one after the other.
  const ahead = await hear(orders, places[2] as string, clock);
  event(0, 1);
  await ahead.pass(30);
  event(1, 2);
  await ahead.pass(100, 5);
  expect(ahead.isOver()).toBe(false);
  event(2, 3);
  await ahead.next;
  const pulls = count('pull');
  expect((await orders.pull(places[2] as string, ASK)).checkpoint).toBe(places[3]);
  expect(count('pull')).toBe(pulls);
  // The next one has pulled one change, which the stream brings together with another.
  const behind = await hear(orders, places[4] as string, clock);
  event(3, 5);
  await behind.pass(60);
  await behind.next;
  await orders.pull(places[4] as string, ASK);
  expect(count('pull')).toBe(pulls + 1);
  const again = await hear(orders, places[5] as string, clock);
  event(5, 6);
  await again.next;
  expect(count('stream')).toBe(1);
});

test.each<[string, Answers['stream'], number]>([
  ['a proxy keeps the answer', () => streamOf(() => undefined), 10_000],
  ['it is no stream', () => new Response('<!doctype html>'), 0],
  ['a proxy refuses it', () => new Response('no', { status: 404 }), 0],
  ['a line has no end', () => streamOf((put) => put(`data: ${'x'.repeat(17 * 2 ** 20)}`)), 0],
  ['an event is no JSON', () => streamOf((put) => put('data: {"at":\n\n')), 0],
  ['an event is another', () => streamOf((put) => put('data: {"at":0,"page":[]}\n\n')), 0],
])('where %s, polls go on', async (_, stream, ms) => {
  const { clock, remoteOf, change, count } = site({ stream });
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const { checkpoint } = await orders.pull(undefined, ASK);
  const { next, pass } = await hear(orders, checkpoint, clock);
  await pass(ms + 1, 2);
  await expect.poll(() => count('watch')).toBe(1);
  await change('orders', 'b');
  await next;
  expect((await orders.pull(checkpoint, ASK)).changes).toMatchObject([{ id: 'b' }]);
  // For good.
  await hear(orders, (await orders.pull(checkpoint, ASK)).checkpoint, clock);
  expect(count('stream')).toBe(1);
});

test('a stream that dies silently, and one that ends, begin anew where they were', async () => {
  const bodies: unknown[] = [];
  const kinds = [
    () => streamOf((put) => put(':\n\n')), // and nothing more
    () =>
      streamOf((put, end) => {
        put(':\n\n');
        end();
      }),
    undefined,
  ];
  const answers: Answers = {};
  const { clock, remoteOf, change, count } = site(answers);
  answers.stream = (init) => {
    bodies.push(JSON.parse(init.body as string));
    const kind = kinds.shift();
    if (kind) return kind();
    answers.stream = undefined;
    return streamOf((put) => put(':\n\n'));
  };
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const { checkpoint } = await orders.pull(undefined, ASK);
  const { pass, isOver } = await hear(orders, checkpoint, clock);
  expect(count('stream')).toBe(1);
  await pass(39_000);
  expect(count('stream')).toBe(1);
  await pass(1001);
  await pass(30, 4);
  expect(count('stream')).toBe(3);
  expect(isOver()).toBe(false);
  expect(bodies).toEqual(Array(3).fill({ collections: [{ name: 'orders', after: checkpoint }] }));
});

test('a network that is gone is an error, as of a poll', async () => {
  const { clock, remoteOf, change } = site({ stream: () => Promise.reject(new TypeError('gone')) });
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const { checkpoint } = await orders.pull(undefined, ASK);
  const { next } = await hear(orders, checkpoint, clock);
  await expect(next).rejects.toMatchObject({ code: 'remote_offline' });
});

test.each([
  ['a server without a stream', {}, undefined],
  ['scopes at a server whose stream has none', { stream: true }, [{ scope: { a: 1 } }]],
])('%s: polls', async (_, abilities, scopes) => {
  const { clock, remoteOf, change, count } = site({ abilities });
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const { checkpoint } = await orders.pull(undefined, ASK);
  const places = scopes?.map((one) => ({ ...one, after: checkpoint }));
  await hear(orders, checkpoint, clock, ASK.signal, places);
  expect([count('stream'), count('watch')]).toEqual([0, 1]);
});

test('a stream that ends as soon as it begins is requested less and less, and its page pulls', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const stream = () => new Response(':\n\n', { headers: { 'content-type': 'text/event-stream' } });
  const { clock, remoteOf, count } = site({ stream });
  const remote = remoteOf('orders');
  const { checkpoint } = await remote.pull(undefined, ASK);
  const began = clock.elapsed();
  let heard = 0;
  for (let round = 0; round < 40 && clock.elapsed() - began < 60_000; round++) {
    const { next, pass, isOver } = await hear(remote, checkpoint, clock);
    await pass(100, 600);
    if (isOver()) heard += (await next).done ? 0 : 1;
  }
  expect(heard).toBeGreaterThan(3);
  expect(count('stream')).toBeLessThan(10);
});

test('a stream ends as soon as the last of those that read it stops', async () => {
  const { clock, remoteOf, change, isOpen } = site();
  const readers = ['orders', 'notes'].map((name) => ({ name, end: new AbortController() }));
  for (const { name, end } of readers) {
    await change(name, 'a');
    const remote = remoteOf(name);
    const { checkpoint } = await remote.pull(undefined, ASK);
    await hear(remote, checkpoint, clock, end.signal);
  }
  const open: boolean[] = [];
  for (const { end } of readers) {
    end.abort(stopped('It was stopped.'));
    await turn();
    open.push(isOpen());
  }
  expect(open).toEqual([true, false]);
});

test('a stream that nobody reads for 15 seconds ends; rounds do not end it', async () => {
  const { clock, remoteOf, change, count, isOpen } = site();
  const orders = remoteOf('orders');
  await change('orders', 'a');
  const { checkpoint } = await orders.pull(undefined, ASK);
  for (let round = 0; round < 3; round++) {
    const end = new AbortController();
    await hear(orders, checkpoint, clock, end.signal);
    end.abort(new Error('A round begins.'));
    await turn();
    clock.advance(10_000);
  }
  expect([isOpen(), count('stream')]).toEqual([true, 1]);
  clock.advance(5000);
  expect(isOpen()).toBe(false);
});
