import { expect, test } from 'vitest';
import { createHandler, memory, type Store } from '../../src/server/index.ts';
import { ask, request, URL_OF, wire } from './requests.ts';

const everyone = { authorize: (): true => true };

test('pull, push and watch speak the protocol', async () => {
  const handler = createHandler({ store: memory(), ...everyone });
  const row = wire('a', {
    at: { $date: 0 },
    bytes: { $bytes: { type: 'Uint8Array', bytes: 'AQ==' } },
  });
  const { results } = await ask(handler, 'my orders', 'push', { rows: [row, row] });
  const { version } = results[0];
  expect(results).toEqual([{ version }, { version }]);
  const stale = wire('a', undefined);
  const { document, key } = row as { document: object; key: string };
  const change = { id: 'a', version, key, document };
  expect(await ask(handler, 'my orders', 'push', { rows: [stale] })).toEqual({
    results: [{ conflict: change }],
  });
  const page = await ask(handler, 'my orders', 'pull', { after: null, limit: 10 });
  expect(page).toEqual({ changes: [change], checkpoint: expect.any(String), more: false });
  const deleted = wire('a', undefined, { base: version, key: 'r.2' });
  await ask(handler, 'my orders', 'push', { rows: [deleted] });
  const after = page.checkpoint;
  expect(await ask(handler, 'my orders', 'watch', { after })).toEqual({ changed: true });
  expect(await ask(handler, 'my orders', 'pull', { after })).toMatchObject({
    changes: [{ id: 'a', key: 'r.2', deleted: true }],
  });
});

test('a request without a stream of its body is read, up to the limit', async () => {
  // As in Firefox, where a page may hold the handler.
  const asked = (body: string) =>
    Object.defineProperty(request(URL_OF('orders', 'pull'), body), 'body', { value: undefined });
  const handler = createHandler({ store: memory(), ...everyone });
  expect((await handler(asked('{"after":null}'))).status).toBe(200);
  expect((await handler(asked(`"${'x'.repeat(5_000_000)}"`))).status).toBe(413);
});

test('a pull of everything is 500 changes at a time', async () => {
  const handler = createHandler({ store: memory(), ...everyone });
  const rows = Array.from({ length: 501 }, (_, index) => wire(`${index}`, {}));
  await ask(handler, 'orders', 'push', { rows });
  expect((await ask(handler, 'orders', 'pull', {})).changes).toHaveLength(500);
  expect((await ask(handler, 'orders', 'pull', { limit: 1000 })).changes).toHaveLength(501);
});

test('rows with documents that cannot be stored are rejected, each with its reason', async () => {
  const handler = createHandler({ store: memory(), ...everyone });
  const rows = [
    wire('a', {}, { id: 'b' }),
    wire('c', {}, { document: ['c'] }),
    wire('d', {}, { document: 'd' }),
    wire('e', { file: { $blob: { type: '', bytes: 0 } } }),
    wire('f', { $where: 1, inner: { $where: 1 } }),
    wire('x'.repeat(1501), {}),
    wire('é'.repeat(751), {}),
    wire('é'.repeat(750), {}),
    JSON.parse('{"id":"g","key":"g","document":{"_id":"g","x":{"__proto__":{"admin":true}}}}'),
    JSON.parse('{"id":"__proto__","key":"p","document":{"_id":"__proto__"}}'),
  ];
  const { results } = await ask(handler, 'orders', 'push', { rows });
  expect(results.map((result: any) => result.rejected?.reason ?? 'accepted')).toEqual([
    'The document is invalid: its _id is not the id.',
    'The document is invalid: it is no object.',
    'The document is invalid: it is no object.',
    'The document is invalid: it has a Blob.',
    'The document is invalid: there is no type "$where".',
    'The id is longer than 1500 bytes.',
    'The id is longer than 1500 bytes.',
    'accepted',
    'The document is invalid: it has the key __proto__.',
    'accepted',
  ]);
  expect(Object.prototype).not.toHaveProperty('admin');
});

test('a small push gets no large answer', async () => {
  const handler = createHandler({ store: memory(), authorize: () => ({ write: () => true }) });
  const text = 'x'.repeat(450_000);
  await ask(handler, 'orders', 'push', { rows: [wire('a', { text })] });
  const rows = Array.from({ length: 1000 }, () => wire('a', {}));
  const answer = await handler(request(URL_OF('orders', 'push'), { rows }));
  const body = await answer.text();
  expect(body.length).toBeLessThan(2_000_000);
  const { results } = JSON.parse(body);
  expect(results.filter(({ conflict }: any) => conflict)).toHaveLength(3);
  expect(results.filter(({ rejected }: any) => rejected?.retry)).toHaveLength(997);
});

test('few documents are in memory at once while rows are checked', async () => {
  const store = memory();
  const asked: number[] = [];
  const { read } = store;
  store.read = (collection, ids) => {
    asked.push(ids.length);
    return read.call(store, collection, ids);
  };
  const handler = createHandler({ store, authorize: () => ({ write: () => true }) });
  const rows = Array.from({ length: 120 }, (_, index) => wire(`${index}`, {}));
  const { results } = await ask(handler, 'orders', 'push', { rows });
  expect(results.every(({ version }: any) => version)).toBe(true);
  expect(asked).toEqual([50, 50, 20]);
});

/** A store whose watch ends with the signal alone. */
function waitingStore() {
  const waiting: AbortSignal[] = [];
  const watch: Store['watch'] = (_collection, _after, signal) => {
    waiting.push(signal);
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(false));
      if (signal.aborted) resolve(false);
    });
  };
  const { pull, push, read } = memory();
  return { waiting, store: { pull, push, read, watch } satisfies Store };
}

test('watch ends after the time for which the server holds a request', async () => {
  const { store } = waitingStore();
  const handler = createHandler({ store, ...everyone, hold: 1 });
  expect(await ask(handler, 'orders', 'watch', { after: 'a.1' })).toEqual({ changed: false });
});

test('a client that leaves frees its listener at once', async () => {
  const { store, waiting } = waitingStore();
  const handler = createHandler({ store, ...everyone });
  const leaving = new AbortController();
  const asked = request(URL_OF('orders', 'watch'), { after: 'a.1' }, { signal: leaving.signal });
  const answer = handler(asked);
  await expect.poll(() => waiting.length).toBe(1);
  leaving.abort();
  expect(waiting[0]?.aborted).toBe(true);
  expect(await (await answer).json()).toEqual({ changed: false });
});

test('answers are kept by no cache and shown by no browser', async () => {
  const handler = createHandler({ store: memory(), ...everyone });
  const { headers } = await handler(request(URL_OF('orders', 'pull'), {}));
  expect(Object.fromEntries(headers)).toEqual({
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
});

const from = (origin: string, init: RequestInit = {}): Request =>
  request(
    URL_OF('orders', 'pull'),
    {},
    { headers: { origin, 'content-type': 'application/json' }, ...init },
  );

test('cors allows the listed origins, in answers and refusals', async () => {
  const origins = ['https://app.example.com'];
  const handler = createHandler({
    ...{ store: memory(), authorize: () => undefined },
    cors: { origins, headers: ['x-tenant'], credentials: true },
  });
  const own = await handler(from('https://app.example.com'));
  expect(own.status).toBe(401);
  expect(own.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
  expect(own.headers.get('access-control-allow-credentials')).toBe('true');
  expect(own.headers.get('vary')).toBe('Origin');
  const { headers } = await handler(from('https://evil.example'));
  expect(headers.has('access-control-allow-origin')).toBe(false);
  const asked = new Request(URL_OF('orders', 'pull'), {
    ...{ method: 'OPTIONS', headers: { origin: 'https://app.example.com' } },
  });
  const preflight = await handler(asked);
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-headers')).toMatch(/authorization, x-tenant/);
});

test('cors is off unless it is set, and * allows all', async () => {
  const closed = createHandler({ store: memory(), ...everyone });
  const { headers } = await closed(from('https://a.example'));
  expect(headers.has('access-control-allow-origin')).toBe(false);
  const open = createHandler({ store: memory(), ...everyone, cors: { origins: '*' } });
  const answer = await open(from('https://a.example'));
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});
