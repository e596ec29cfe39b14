import { describe, expect, test } from 'vitest';
import { HttpRemote } from '../../../src/replication/http.ts';
import { http, type LocalChange, type RemoteFetch } from '../../../src/replication/index.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import { TestClock, turn } from '../fetching/test-clock.ts';

const url = 'https://example.com/sync/orders';
const ask = { signal: new AbortController().signal };
const pullOf = (fetch: RemoteFetch) => http({ url, fetch }).pull(undefined, { limit: 2, ...ask });

const row = (id: string, document: object | undefined = { _id: id }): LocalChange => ({
  ...{ id, document, base: undefined, key: `r.${id}` },
});

describe('pull()', () => {
  const good = { id: 'a', version: '1', document: { _id: 'a' } };
  const page = { changes: [], checkpoint: 'e.1', more: false };

  test.for<[string, unknown]>([
    ['no object', 'changes'],
    ['null', null],
    ['an array', []],
    ['no changes', { checkpoint: 'e.1', more: false }],
    ['changes that are no list', { ...page, changes: { 0: good } }],
    ['more changes than requested', { ...page, changes: [good, good, good] }],
    ['no checkpoint', { changes: [], more: false }],
    ['a number as checkpoint', { ...page, checkpoint: 1 }],
    ['an endless checkpoint', { ...page, checkpoint: 'x'.repeat(201) }],
    ['more as text', { ...page, more: 'no' }],
    ['reset as text', { ...page, reset: 'yes' }],
    ['a change that is null', { ...page, changes: [null] }],
    ['a version that is a number', { ...page, changes: [{ ...good, version: 7 }] }],
    ['no version', { ...page, changes: [{ id: 'a', document: { _id: 'a' } }] }],
    ['no id', { ...page, changes: [{ version: '1', document: {} }] }],
    ['an id that is a number', { ...page, changes: [{ ...good, id: 1 }] }],
    ['the document of another', { ...page, changes: [{ ...good, document: { _id: 'b' } }] }],
    ['a document that is a list', { ...page, changes: [{ ...good, document: [] }] }],
    ['neither document nor deletion', { ...page, changes: [{ id: 'a', version: '1' }] }],
    ['both', { ...page, changes: [{ ...good, deleted: true }] }],
    ['a key that is an object', { ...page, changes: [{ ...good, key: {} }] }],
    ['an unknown mark', { ...page, changes: [{ ...good, document: { _id: 'a', x: { $x: 1 } } }] }],
  ])('refuses %s', async ([, body]) => {
    const refused = expect(pullOf(async () => jsonAnswer(body))).rejects;
    await refused.toMatchObject({ code: 'answer_invalid', place: `${url}/pull` });
  });

  test('asks for fewer where they are too large together, and takes what the server rejects', async () => {
    const limits: number[] = [];
    const fetch: RemoteFetch = async (_, { body }) => {
      const { limit } = JSON.parse(body as string);
      limits.push(limit);
      const document = { _id: 'a', text: 'x'.repeat(9e6) };
      const rejected = [{ id: 'b', reason: 'too large' }];
      return jsonAnswer({ ...page, changes: Array(limit).fill({ ...good, document }), rejected });
    };
    expect(await pullOf(fetch)).toMatchObject({
      ...{ changes: [{ id: 'a' }], rejected: [{ id: 'b', reason: 'too large' }] },
    });
    expect(limits).toEqual([2, 1]);
  });

  test('begins anew where another server has the URL, which does not know the checkpoint', async () => {
    const bodies: unknown[] = [];
    const fetch: RemoteFetch = async (_, { body }) => {
      const { after } = JSON.parse(body as string);
      bodies.push(after);
      if (after !== null)
        return jsonAnswer({ error: { code: 'checkpoint_invalid', message: 'x' } }, 400);
      return jsonAnswer({ ...page, changes: [good] });
    };
    const pulled = await http({ url, fetch }).pull('7', { limit: 2, ...ask });
    expect(pulled).toMatchObject({ reset: true, changes: [{ id: 'a' }], checkpoint: 'e.1' });
    expect(bodies).toEqual(['7', null]);
  });
});

describe('push()', () => {
  test.for<[string, unknown]>([
    ['no results', {}],
    ['too few', { results: [] }],
    ['too many', { results: [{ version: '1' }, { version: '2' }] }],
    ['a version that is a number', { results: [{ version: 1 }] }],
    [
      'a conflict of another document',
      { results: [{ conflict: { id: 'b', version: '1', deleted: true } }] },
    ],
    ['a reason that is an object', { results: [{ rejected: { reason: {} } }] }],
    ['the document of another', { results: [{ version: '1', document: { _id: 'b' } }] }],
  ])('refuses %s', async ([, body]) => {
    const remote = http({ url, fetch: async () => jsonAnswer(body) });
    await expect(remote.push([row('a')], ask)).rejects.toMatchObject({ code: 'answer_invalid' });
  });

  test('does not send what JSON cannot carry, and sends the rest', async () => {
    const sent: string[][] = [];
    const fetch: RemoteFetch = async (_, { body }) => {
      const { rows } = JSON.parse(body as string);
      sent.push(rows.map(({ id }: { id: string }) => id));
      return jsonAnswer({
        results: rows.map(({ id }: { id: string }) => ({ version: `v ${id}` })),
      });
    };
    const blob = { _id: 'b', file: new Blob(['x']) };
    const results = await http({ url, fetch }).push([row('a'), row('b', blob), row('c')], ask);
    expect(results).toEqual([
      { version: 'v a' },
      { rejected: { reason: expect.stringContaining('Blob') } },
      { version: 'v c' },
    ]);
    await http({ url, fetch }).push([row('b', blob)], ask);
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
    ]);
    expect(await http({ url, fetch }).push([row('k', { _id: 'k', key })], ask)).toEqual([
      { rejected: { reason: expect.stringContaining('CryptoKey') } },
    ]);
    expect(sent).toEqual([['a', 'c']]);
  });

  test('sends large rows apart', async () => {
    const counts: number[] = [];
    const fetch: RemoteFetch = async (_, { body }) => {
      const { rows } = JSON.parse(body as string);
      counts.push(rows.length);
      return jsonAnswer({ results: rows.map(() => ({ version: '1' })) });
    };
    const large = (id: string) => row(id, { _id: id, text: 'x'.repeat(400_000) });
    const rows = ['a', 'b', 'c', 'd', 'e'].map(large);
    expect(await http({ url, fetch }).push(rows, ask)).toHaveLength(5);
    expect(counts).toEqual([2, 2, 1]);
  });

  test('rows whose answers are too large together are sent again, and one alone is rejected', async () => {
    const counts: number[] = [];
    const fetch: RemoteFetch = async (_, { body }) => {
      const { rows } = JSON.parse(body as string);
      counts.push(rows.length);
      const conflictOf = ({ id }: { id: string }) => ({
        conflict: {
          id,
          version: '2',
          document: { _id: id, text: 'x'.repeat(id === 'b' ? 17e6 : 5e6) },
        },
      });
      return jsonAnswer({ results: rows.map(conflictOf) });
    };
    const rows = ['a', 'b', 'c', 'd'].map((id) => row(id));
    expect(await http({ url, fetch }).push(rows, ask)).toMatchObject([
      { conflict: { id: 'a' } },
      { rejected: { reason: expect.stringContaining('too large') } },
      ...[{ conflict: { id: 'c' } }, { conflict: { id: 'd' } }],
    ]);
    expect(counts).toEqual([4, 2, 1, 1, 2]);
  });

  test('a route that is missing is no fault of the rows', async () => {
    const remote = http({ url, fetch: async () => jsonAnswer({}, 404) });
    await expect(remote.push([row('a')], ask)).rejects.toMatchObject({ code: 'remote_failed' });
  });
});

describe('watch()', () => {
  test('rings once the server has something, and follows its signal', async () => {
    const answers: ((response: Response) => void)[] = [];
    const clock = new TestClock();
    const fetch: RemoteFetch = () => new Promise((resolve) => answers.push(resolve));
    const remote = new HttpRemote({ url, headers: {}, fetch }, clock);
    const ending = new AbortController();
    const rings = remote.watch('e.1', { signal: ending.signal })[Symbol.asyncIterator]();
    const ring = rings.next();
    while (answers.length < 1) await turn();
    clock.advance(25_000);
    answers[0]?.(jsonAnswer({ changed: false }));
    while (answers.length < 2) await turn();
    answers[1]?.(jsonAnswer({ changed: true }));
    expect(await ring).toMatchObject({ done: false });
    const next = rings.next();
    const reason = new Error('stopped');
    ending.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  test('refuses an answer without "changed"', async () => {
    const remote = http({ url, fetch: async () => jsonAnswer({}) });
    const rings = remote.watch?.('e.1', ask)[Symbol.asyncIterator]();
    await expect(rings?.next()).rejects.toMatchObject({ code: 'answer_invalid' });
  });
});

describe('options', () => {
  test.for<[string, unknown]>([
    ['option_invalid', undefined],
    ['option_missing', {}],
    ['option_invalid', { url: '' }],
    ['option_invalid', { url: '/sync/orders' }],
    ['option_invalid', { url: 'ftp://example.com/orders' }],
    ['option_invalid', { url: 'javascript:alert(1)' }],
    ['option_invalid', { url: 'https://ada:secret@example.com/orders' }],
    ['option_invalid', { url: 'https://example.com/orders?x=1' }],
    ['option_invalid', { url: 'https://example.com/orders#x' }],
    ['option_invalid', { url, headers: 'x' }],
    ['option_invalid', { url, headers: { authorization: 1 } }],
    ['option_invalid', { url, fetch: 'x' }],
    ['option_unknown', { url, header: {} }],
  ])('%s: %j', ([code, options]) => {
    expect(() => http(options as never)).toThrow(expect.objectContaining({ code }));
  });

  test('an error about credentials does not repeat them', () => {
    expect(() => http({ url: 'https://ada:secret@example.com/orders' })).toThrow(/^(?!.*secret)/);
  });

  test('the id names the URL, without a slash at its end', () => {
    expect(http({ url: `${url}/` }).id).toBe(`http:${url}`);
  });
});
