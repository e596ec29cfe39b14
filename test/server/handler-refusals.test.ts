import { describe, expect, test, vi } from 'vitest';
import {
  type Authorize,
  createHandler,
  memory,
  ServerError,
  type Store,
} from '../../src/server/index.ts';
import { ask, refusal, request, URL_OF, wire } from './requests.ts';

const anyone: Authorize = () => true;
const everyone = { authorize: anyone };
const handler = createHandler({ store: memory(), ...everyone });
const pull = URL_OF('orders', 'pull');
const push = URL_OF('orders', 'push');

describe('a request without a route', () => {
  test.each([
    'https://example.com/',
    'https://example.com/pull',
    'https://example.com//pull',
    'https://example.com/sync/orders',
    'https://example.com/sync/orders/drop',
    'https://example.com/sync/orders/constructor',
    'https://example.com/sync/orders/__proto__',
    'https://example.com/sync/%/pull',
    'https://example.com/sync/%ff/pull',
    'https://example.com/sync/a%00b/pull',
    'https://example.com/sync/%0A/pull',
    URL_OF('x'.repeat(129), 'pull'),
  ])('%s', async (url) => {
    expect(await refusal(handler, request(url, {}))).toEqual([404, 'route_unknown']);
  });
});

test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is not allowed', async (method) => {
  const asked = new Request(pull, { method });
  expect(await refusal(handler, asked)).toEqual([405, 'method_not_allowed']);
});

test.each([
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'application/jsonp' },
  { 'content-type': 'application/json', 'content-encoding': 'gzip' },
])('the headers %j are not supported', async (headers) => {
  const asked = request(pull, '{}', { headers });
  expect(await refusal(handler, asked)).toEqual([415, 'content_type_unsupported']);
});

describe('a body that is not a message', () => {
  test.each(['', '{', '<html>', 'undefined', '{"limit":1}}', '\ud800{', '[1,]'])(
    '%j is not JSON',
    async (body) => {
      expect(await refusal(handler, request(pull, body))).toEqual([400, 'json_invalid']);
    },
  );

  test('bytes that are not UTF-8', async () => {
    const body = new Uint8Array([0x22, 0xff, 0x22]);
    const asked = new Request(pull, { ...posted, body });
    expect(await refusal(handler, asked)).toEqual([400, 'body_unreadable']);
  });

  test('a body that breaks off', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"limit":'));
        controller.error(new Error('reset'));
      },
    });
    expect(await refusal(handler, streamed(pull, body))).toEqual([400, 'body_unreadable']);
  });

  test.each<[string, unknown]>([
    ...['null', '[]', '"pull"', '7'].map((body): [string, string] => ['pull', body]),
    ['pull', { limit: 0 }],
    ['pull', { limit: 1001 }],
    ['pull', { limit: 1.5 }],
    ['pull', { limit: '10' }],
    ['pull', { limit: null }],
    ['pull', { after: 7 }],
    ['pull', { after: '' }],
    ['pull', { after: 'x'.repeat(201) }],
    ['pull', { after: 'é' }],
    ['pull', { after: { toString: 1 } }],
    ['push', {}],
    ['push', { rows: {} }],
    ['push', { rows: [null] }],
    ['push', { rows: [[]] }],
    ['push', { rows: [wire('', {})] }],
    ['push', { rows: [wire('a', {}, { id: 7 })] }],
    ['push', { rows: [wire('a', {}, { key: undefined })] }],
    ['push', { rows: [wire('a', {}, { key: 'a\0' })] }],
    ['push', { rows: [wire('a', {}, { key: 'k'.repeat(201) })] }],
    ['push', { rows: [wire('a', {}, { base: 7 })] }],
    ['push', { rows: [wire('a', {}, { base: "'\n--" })] }],
    ['push', { rows: [wire('a', {}, { deleted: true })] }],
    ['push', { rows: [wire('a', undefined, { deleted: false })] }],
    ['push', { rows: [wire('a', {}, { document: null })] }],
    ['watch', {}],
    ['watch', { after: null }],
  ])('%s %j', async (call, body) => {
    const asked = request(URL_OF('orders', call), body);
    expect(await refusal(handler, asked)).toEqual([400, 'message_invalid']);
  });

  test.each(['pull', 'watch'])('%s with a checkpoint of somebody else', async (call) => {
    const asked = request(URL_OF('orders', call), { after: '47-g1AAAACLeJzLYWBg' });
    expect(await refusal(handler, asked)).toEqual([400, 'checkpoint_invalid']);
  });

  test('JSON nested a million levels deep', async () => {
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
    expect(await refusal(handler, request(pull, deep))).toEqual([400, 'message_invalid']);
    const rows = `{"rows":[{"id":"a","key":"k","document":{"_id":"a","x":${deep}}}]}`;
    const { results } = await ask(handler, 'orders', 'push', rows);
    expect(results).toEqual([{ rejected: { reason: expect.stringMatching(/too deeply/) } }]);
  });
});

const posted = { method: 'POST', headers: { 'content-type': 'application/json' } };
const streamed = (url: string, body: ReadableStream): Request =>
  new Request(url, { ...posted, body, duplex: 'half' } as RequestInit);

describe('a body over the limit', () => {
  const small = createHandler({ store: memory(), ...everyone, maxBody: 1000 });

  test('by its announced length is refused before it is read', async () => {
    const asked = request(push, { rows: ['x'.repeat(1000)] });
    asked.headers.set('content-length', '1012');
    expect(await refusal(small, asked)).toEqual([413, 'body_too_large']);
    expect(asked.bodyUsed).toBe(false);
  });

  test('in chunks without a length is read up to the limit', async () => {
    let chunks = 0;
    const cancelled = vi.fn();
    const endless = new ReadableStream({
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(100).fill(0x20));
      },
      cancel: cancelled,
    });
    expect(await refusal(small, streamed(push, endless))).toEqual([413, 'body_too_large']);
    expect(chunks).toBeLessThan(15);
    expect(cancelled).toHaveBeenCalled();
  });

  test('exactly at the limit is taken', async () => {
    const body = '{"limit":1}'.padEnd(1000);
    expect((await small(request(pull, body))).status).toBe(200);
    expect(await refusal(small, request(pull, `${body} `))).toEqual([413, 'body_too_large']);
  });

  test('by the number of rows', async () => {
    const rows = Array.from({ length: 1001 }, (_, index) => wire(`${index}`, {}));
    expect(await refusal(handler, request(push, { rows }))).toEqual([413, 'rows_too_many']);
  });
});

describe('a store that fails', () => {
  const failing = (error: unknown) => {
    const onError = vi.fn();
    const fail = () => Promise.reject(error);
    const store: Store = { pull: fail, push: fail, read: fail, watch: fail };
    return { onError, handler: createHandler({ store, ...everyone, onError }) };
  };

  test.each([
    ['pull', { limit: 1 }],
    ['push', { rows: [wire('a', {})] }],
    ['watch', { after: 'a.1' }],
  ])('%s answers 503 without the text of the error', async (call, body) => {
    const error = new Error('password authentication failed for user "cairn"');
    const { handler: broken, onError } = failing(error);
    const response = await broken(request(URL_OF('orders', call), body));
    expect(response.status).toBe(503);
    expect(await response.text()).not.toMatch(/password|cairn/);
    expect(onError).toHaveBeenCalledWith(error, expect.any(Request));
  });

  test.each([
    ['store_busy', 429],
    ['store_unavailable', 503],
  ] as const)('%s names the time of a retry', async (code, status) => {
    const { handler: busy } = failing(
      new ServerError(code, 'Host db7 is down.', { retryAfter: 1.2 }),
    );
    const response = await busy(request(pull, {}));
    expect([response.status, response.headers.get('retry-after')]).toEqual([status, '2']);
    expect(await response.text()).not.toMatch(/db7/);
  });

  test.each([
    () => {
      throw new Error('log is full');
    },
    async () => {
      throw new Error('log is full');
    },
  ])('onError that fails changes no answer: %s', async (fails) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { handler: broken, onError } = failing(new Error('lost'));
    onError.mockImplementation(fails);
    expect((await broken(request(pull, {}))).status).toBe(503);
    await expect.poll(() => logged.mock.calls.length).toBe(1);
    logged.mockRestore();
  });
});

test.each([
  [{}, 'option_missing'],
  [{ store: memory() }, 'option_missing'],
  [everyone, 'option_missing'],
  [{ store: memory(), ...everyone, authorise: 1 }, 'option_unknown'],
  [{ store: memory(), ...everyone, maxBody: 0 }, 'option_invalid'],
  [{ store: memory(), ...everyone, hold: Number.NaN }, 'option_invalid'],
  [{ store: memory(), ...everyone, cors: { origins: 'https://a.b' } }, 'option_invalid'],
  [{ store: memory(), ...everyone, cors: { origins: '*', credentials: true } }, 'option_conflict'],
])('the options %j are refused', (options, code) => {
  expect(() => createHandler(options as any)).toThrow(expect.objectContaining({ code }));
});
