import { describe, expect, test } from 'vitest';
import { Fetcher, MAX_ANSWER_BYTES } from '../../../src/replication/fetching/fetcher.ts';
import type { RemoteFetch, RemoteHeaders } from '../../../src/replication/index.ts';
import { brokenAnswer, endlessAnswer, hangingAnswer, jsonAnswer, textAnswer } from './answers.ts';
import { TestClock } from './test-clock.ts';

const url = 'https://example.com/sync/orders/pull';
const forever = new AbortController().signal;

function ask(fetch: RemoteFetch, headers: RemoteHeaders = {}, signal = forever): Promise<unknown> {
  const readRefusal = (body: unknown) => body as { code: string; message: string } | undefined;
  const fetcher = new Fetcher({ headers, fetch, readRefusal, clock: new TestClock() });
  return fetcher.fetch({ url, body: {}, signal }, (body) => body);
}

const failure = (fetch: RemoteFetch, headers?: RemoteHeaders, signal?: AbortSignal) =>
  ask(fetch, headers, signal).then(
    () => expect.unreachable(),
    (error: unknown) => error as Error,
  );

describe('a status of a failed request', () => {
  test.for([
    [400, 'remote_refused'],
    [401, 'remote_unauthorized'],
    [403, 'remote_forbidden'],
    [404, 'remote_refused'],
    [405, 'remote_refused'],
    [408, 'remote_failed'],
    [409, 'remote_refused'],
    [413, 'remote_too_large'],
    [415, 'remote_refused'],
    [422, 'remote_refused'],
    [429, 'remote_failed'],
    [500, 'remote_failed'],
    [502, 'remote_failed'],
    [503, 'remote_failed'],
    [599, 'remote_failed'],
  ] as const)('%d is %s', async ([status, code]) => {
    const html = () => Promise.resolve(textAnswer('<h1>No</h1>', 'text/html', status));
    expect(await failure(html)).toMatchObject({ code, place: url });
    const said = { code: 'said', message: 'by the server' };
    const json = await failure(async () => jsonAnswer(said, status));
    expect(json).toMatchObject({ code, message: expect.stringContaining('by the server') });
  });

  test.for([
    ['7', 7000],
    [' 0 ', 0],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 1969 00:00:00 GMT', 0],
    ['99999999999999', 3_600_000],
    ['soon', undefined],
    ['-5', undefined],
  ] as const)('Retry-After: %s', async ([value, retry_after]) => {
    const answer = async () => jsonAnswer({}, 503, { 'retry-after': value });
    const error = (await failure(answer)) as { retry_after?: number };
    expect(error.retry_after).toBe(retry_after);
  });
});

describe('an answer that is not JSON', () => {
  test.for([
    ['HTML', () => textAnswer('<!doctype html>', 'text/html; charset=utf-8')],
    ['no content type', () => new Response(new Uint8Array([123, 125]))],
    ['text', () => textAnswer('{}', 'text/plain')],
    ['something like it', () => textAnswer('{}', 'application/jsonp')],
    ['truncated', () => textAnswer('{"changes":[{"id":"a"')],
    ['empty', () => textAnswer('')],
    ['no content', () => new Response(null, { status: 204 })],
    ['bytes that are no text', () => textAnswer('\ufffd\ufffd')],
    ['a redirect', () => Response.redirect('https://elsewhere.example/login', 302)],
    ['an error of the platform', () => Response.error()],
  ] as const)('%s', async ([, answer]) => {
    expect(await failure(async () => answer())).toMatchObject({
      ...{ code: 'answer_invalid', place: url },
      message: expect.stringContaining(url),
    });
  });

  test('JSON with parameters or a suffix is JSON', async () => {
    for (const type of ['application/json; charset=utf-8', 'application/problem+json'])
      expect(await ask(async () => textAnswer('{"a":1}', type))).toEqual({ a: 1 });
  });

  test('a redirect says where it leads, and nobody follows it', async () => {
    const inits: RequestInit[] = [];
    const error = await failure(async (_, init) => {
      inits.push(init);
      return Response.redirect('https://elsewhere.example/login', 307);
    });
    expect(error.message).toContain('https://elsewhere.example/login');
    expect(inits).toMatchObject([{ redirect: 'manual' }]);
  });

  test('a body without end is left', async () => {
    let isCancelled = false;
    const error = await failure(async () =>
      endlessAnswer(() => {
        isCancelled = true;
      }),
    );
    expect(error).toMatchObject({ code: 'answer_invalid' });
    expect(error.message).toContain(String(MAX_ANSWER_BYTES));
    expect(isCancelled).toBe(true);
  });

  test('a reason without end is left, and the status counts', async () => {
    const { body } = endlessAnswer(() => undefined);
    expect(await failure(async () => new Response(body, { status: 500 }))).toMatchObject({
      code: 'remote_failed',
    });
  });
});

describe('the network', () => {
  test('is not there', async () => {
    const cause = new TypeError('fetch failed');
    expect(await failure(() => Promise.reject(cause))).toMatchObject({
      ...{ code: 'remote_offline', cause, place: url },
    });
  });

  test('breaks in the middle of a body', async () => {
    expect(await failure(async () => brokenAnswer('{"changes":['))).toMatchObject({
      code: 'remote_offline',
    });
  });

  test('gives way to the signal, with its reason', async () => {
    const controller = new AbortController();
    const heeding: RemoteFetch = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
    const failed = failure(heeding, {}, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await failed).toBe(reason);
  });

  test('a deadline ends a body that hangs', async () => {
    const controller = new AbortController();
    const { response } = hangingAnswer('{"changes":');
    const heeding: RemoteFetch = async (_, { signal }) => {
      const { readable, writable } = new TransformStream();
      void response.body?.pipeTo(writable, signal ? { signal } : {}).catch(() => undefined);
      return new Response(readable, { headers: { 'content-type': 'application/json' } });
    };
    const failed = failure(heeding, {}, controller.signal);
    const reason = new Error('deadline');
    controller.abort(reason);
    expect(await failed).toBe(reason);
  });
});

describe('headers', () => {
  const authorizations: (string | undefined)[] = [];
  const guarded =
    (valid: string): RemoteFetch =>
    async (_, { headers }) => {
      const { authorization } = headers as Record<string, string>;
      authorizations.push(authorization);
      return authorization === valid ? jsonAnswer({ ok: 1 }) : jsonAnswer({}, 401);
    };

  test('are requested once more after 401', async () => {
    authorizations.length = 0;
    let asked = 0;
    const headers = async () => ({ authorization: `token ${++asked}` });
    expect(await ask(guarded('token 2'), headers)).toEqual({ ok: 1 });
    expect(authorizations).toEqual(['token 1', 'token 2']);
  });

  test('are not requested a third time', async () => {
    authorizations.length = 0;
    let asked = 0;
    const headers = () => ({ authorization: `token ${++asked}` });
    expect(await failure(guarded('none'), headers)).toMatchObject({ code: 'remote_unauthorized' });
    expect(authorizations).toEqual(['token 1', 'token 2']);
  });

  test('that are fixed are not sent again', async () => {
    authorizations.length = 0;
    const headers = { authorization: 'old' };
    expect(await failure(guarded('new'), headers)).toMatchObject({ code: 'remote_unauthorized' });
    expect(authorizations).toEqual(['old']);
  });

  test('that cannot be had now are had later; wrong ones need somebody', async () => {
    const never: RemoteFetch = () => expect.unreachable();
    const cause = new TypeError('fetch failed');
    expect(await failure(never, () => Promise.reject(cause))).toMatchObject({
      ...{ code: 'remote_offline', cause },
    });
    for (const wrong of [undefined, 'token', { authorization: 1 }, new Map()])
      expect(await failure(never, (() => wrong) as never)).toMatchObject({
        code: 'remote_unauthorized',
      });
  });
});
