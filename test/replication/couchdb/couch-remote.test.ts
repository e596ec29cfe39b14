import { describe, expect, test } from 'vitest';
import { couchdb, type LocalChange } from '../../../src/replication/index.ts';
import { CouchModel } from '../../simulation/couch-model.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import {
  type Answer,
  type Answers,
  ask,
  asked,
  change,
  page,
  remoteOf,
  row,
  serve,
  serveModel,
  url,
} from './fake-couch.ts';

describe('pull()', () => {
  const good = change('a');

  test.for<[string, unknown]>([
    ['a list', []],
    ['no results', { last_seq: 1 }],
    ['results that are no list', { results: {}, last_seq: 1 }],
    ['more results than requested', page([good, good, good])],
    ['no last_seq', { results: [] }],
    ['a last_seq that is an object', page([], {})],
    ['an empty last_seq', page([], '')],
    ['a row that is null', page([null])],
    ['a row without id', page([{ ...good, id: undefined }])],
    ['a row without document', page([{ ...good, doc: null }])],
    ['the document of another', page([{ ...good, doc: { _id: 'b', _rev: '1-a' } }])],
    ['a revision that is a number', page([change('a', 7 as never)])],
    ['a revision that is none', page([change('a', 'latest')])],
    ['an endless revision', page([change('a', `1-${'x'.repeat(200)}`)])],
    ['conflicts that are no list', page([change('a', '1-a', { _conflicts: 'x' })])],
    ['conflicts that are numbers', page([change('a', '1-a', { _conflicts: [1] })])],
    ['a deletion without revision', page([{ id: 'a', deleted: true, changes: [] }])],
  ])('refuses %s', async ([, _changes]) => {
    const pulled = remoteOf({ _changes }).pull(undefined, asked);
    await expect(pulled).rejects.toMatchObject({ code: 'answer_invalid' });
  });

  test('takes repeated rows once, in their highest revision, and deletions without a document', async () => {
    const results = [change('a', '10-a', { n: 10 }), change('a', '9-f', { n: 9 })];
    const _changes = page(results);
    expect(await remoteOf({ _changes }).pull(undefined, asked)).toMatchObject({
      changes: [{ id: 'a', version: '10-a', document: { _id: 'a', n: 10 } }],
      ...{ checkpoint: { since: '9-x', database: '1' }, more: false },
    });
    const gone = page([{ id: 'b', deleted: true, changes: [{ rev: '3-c' }] }], 9);
    expect(await remoteOf({ _changes: gone }).pull(undefined, asked)).toMatchObject({
      changes: [{ id: 'b', version: '3-c', document: undefined }],
      checkpoint: { since: 9 },
    });
  });

  test('asks for fewer where they are too large together', async () => {
    const limits: (string | null)[] = [];
    const large = JSON.stringify(change('a', '1-a', { text: 'x'.repeat(9_000_000) }));
    const _changes: Answer = (_, query) => {
      limits.push(query.get('limit'));
      const rows = Array(Number(query.get('limit'))).fill(large);
      const body = `{"results":[${rows}],"last_seq":"1-x","pending":3}`;
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    const pulled = await remoteOf({ _changes }).pull(undefined, { limit: 4, ...ask });
    expect(pulled).toMatchObject({ changes: [{ id: 'a' }], more: true });
    expect(limits).toEqual(['4', '2', '1']);
  });

  test('a selector gets deletions too', async () => {
    const bodies: unknown[] = [];
    const _changes: Answer = (body, query) => {
      bodies.push(body, query.get('filter'));
      return jsonAnswer(page([]));
    };
    const remote = couchdb({ url, selector: { owner: 'ada' }, fetch: serve({ _changes }) });
    await remote.pull(undefined, asked);
    expect(bodies).toEqual([
      // Where what leaves will be looked for.
      ...[undefined, null],
      { selector: { $or: [{ _deleted: true }, { owner: 'ada' }] } },
      '_selector',
    ]);
  });
});

describe('push()', () => {
  test.for<[string, unknown]>([
    ['an object', {}],
    ['too few results', []],
    [
      'too many',
      [
        { id: 'a', rev: '1-a' },
        { id: 'b', rev: '1-b' },
      ],
    ],
    ['the result of another', [{ id: 'b', rev: '1-a' }]],
    ['no revision', [{ id: 'a', ok: true }]],
    ['a revision that is a number', [{ id: 'a', rev: 1 }]],
  ])('refuses %s', async ([, _bulk_docs]) => {
    const pushed = remoteOf({ _bulk_docs }).push([row('a')], ask);
    await expect(pushed).rejects.toMatchObject({ code: 'answer_invalid' });
  });

  test.each([
    ['CouchDB, which refuses its revision', false],
    ["PouchDB's server", true],
  ])('a document is made anew of its tombstone: %s', async (_, isPouch) => {
    const model = new CouchModel({ isPouch });
    const remote = couchdb({ url, fetch: serveModel(model) });
    const push = async (key: string, base?: string, document?: object) => {
      const [result] = await remote.push([{ id: 'a', base, document, key }], ask);
      return (result as { version: string }).version;
    };
    const gone = await push('r.2', await push('r.1', undefined, { _id: 'a', n: 1 }));
    const version = await push('r.3', gone, { _id: 'a', n: 2 });
    expect((await remote.pull(undefined, asked)).changes).toEqual([
      { id: 'a', version, document: { _id: 'a', n: 2 }, key: 'r.3' },
    ]);
    expect(version).toMatch(/^3-/);
  });

  test('every row has its own result', async () => {
    const errors: Record<string, object> = {
      b: { error: 'forbidden', reason: 'not yours' },
      c: { error: 'conflict', reason: 'Document update conflict.' },
      d: { error: 'unauthorized', reason: 'who?' },
      e: { error: 'timeout', reason: 'later' },
      f: { error: 'conflict', reason: 'Document update conflict.' },
    };
    const remote = remoteOf({
      _bulk_docs: ({ docs }: any) =>
        jsonAnswer(docs.map(({ _id: id }: any) => ({ id, ...(errors[id] ?? { rev: `2-${id}` }) }))),
      _bulk_get: { results: [] },
      _all_docs: {
        rows: [
          { id: 'c', key: 'c', value: { rev: '5-c' }, doc: { _id: 'c', _rev: '5-c', n: 5 } },
          { key: 'f', error: 'not_found' },
        ],
      },
    });
    const rows = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => row(id, '1-x'));
    expect(await remote.push([...rows, row('_x')], ask)).toEqual([
      { version: '2-a' },
      { rejected: { reason: 'forbidden: not yours' } },
      { conflict: { id: 'c', version: '5-c', document: { _id: 'c', n: 5 } } },
      { rejected: { reason: 'unauthorized: who?' } },
      { rejected: { reason: 'timeout: later', retry: true } },
      { conflict: { id: 'f', version: 'absent', document: undefined } },
      { rejected: { reason: expect.stringContaining('_id') } },
    ]);
    // What is gone is made anew.
    const sent: any[] = [];
    const _bulk_docs: Answer = ({ docs }) => {
      sent.push(...docs);
      return jsonAnswer([{ id: 'f', rev: '1-f' }]);
    };
    await remoteOf({ _bulk_docs }).push([row('f', 'absent')], ask);
    expect(sent).toEqual([expect.not.objectContaining({ _rev: expect.anything() })]);
  });

  test('a deletion of what is deleted is accepted', async () => {
    const remote = remoteOf({
      _bulk_docs: [{ id: 'a', error: 'conflict', reason: '' }],
      _bulk_get: { results: [] },
      _all_docs: { rows: [{ id: 'a', key: 'a', value: { rev: '4-a', deleted: true }, doc: null }] },
    });
    const deletion: LocalChange = { id: 'a', base: '1-a', document: undefined, key: 'r.1' };
    expect(await remote.push([deletion], ask)).toEqual([{ version: '4-a' }]);
  });

  test.each([
    ['r.a', [{ version: '2-b' }]],
    ['r.z', [{ conflict: { id: 'a', version: '4-d', document: undefined } }]],
  ])(
    'a push that made a revision of a document that is deleted by now: %s',
    async (key, results) => {
      // PouchDB fails where a deleted document would get a revision of its past.
      const answers: Answers = {
        _bulk_docs: [{ id: 'a', error: 'conflict', reason: '' }],
        _all_docs: {
          rows: [{ id: 'a', key: 'a', value: { rev: '4-d', deleted: true }, doc: null }],
        },
        _bulk_get: ({ docs: [{ rev }] }: any, query: URLSearchParams) => {
          const ok =
            query.get('revs') === 'true' && rev === '4-d'
              ? { _id: 'a', _rev: '4-d', _revisions: { start: 4, ids: ['d', 'c', 'b', 'x'] } }
              : {
                  _id: 'a',
                  _rev: rev,
                  $cairn: { key: `2 ${rev === '2-b' ? key : 'none'} 00000000` },
                };
          return jsonAnswer({ results: [{ id: 'a', docs: [{ ok }] }] });
        },
      };
      expect(await remoteOf(answers).push([row('a', '1-x')], ask)).toEqual(results);
    },
  );

  test.for<[string, unknown]>([
    ['no rows', {}],
    ['the row of another', { rows: [{ key: 'b', error: 'not_found' }] }],
    ['no document', { rows: [{ key: 'a', value: { rev: '1-a' }, doc: null }] }],
  ])('refuses present documents with %s', async ([, _all_docs]) => {
    const _bulk_docs = [{ id: 'a', error: 'conflict', reason: '' }];
    const pushed = remoteOf({ _bulk_docs, _all_docs }).push([row('a', '1-x')], ask);
    await expect(pushed).rejects.toMatchObject({ code: 'answer_invalid' });
  });

  test('a database that is missing is no fault of the rows', async () => {
    await expect(remoteOf({}).push([row('a')], ask)).rejects.toMatchObject({
      code: 'remote_failed',
    });
  });
});

test('watch() asks for a long poll with heartbeats from the checkpoint on', async () => {
  const queries: URLSearchParams[] = [];
  const _changes: Answer = (_, query) => {
    queries.push(query);
    return jsonAnswer(page(queries.length < 2 ? [] : [{ id: 'a', seq: 1, changes: [] }]));
  };
  const rings = remoteOf({ _changes }).watch?.({ since: '5-x', database: '1' }, ask);
  expect(await rings?.[Symbol.asyncIterator]().next()).toMatchObject({ done: false });
  expect(Object.fromEntries(queries[0] ?? [])).toEqual({
    ...{ feed: 'longpoll', heartbeat: '10000', since: '5-x', limit: '1' },
  });
  expect(queries).toHaveLength(2);
});

test('options are checked', () => {
  const invalid = (options: unknown, code: string) =>
    expect(() => couchdb(options as never)).toThrow(expect.objectContaining({ code }));
  invalid({ url: 'http://admin:secret@localhost:5984/orders' }, 'option_invalid');
  invalid({ url, selector: 'owner' }, 'option_invalid');
  // Without what JSON leaves out they would match more.
  invalid({ url, selector: { owner: undefined } }, 'option_invalid');
  invalid({ url, selector: { name: { $in: [/x/] } } }, 'option_invalid');
  invalid({ url, filter: {} }, 'option_unknown');
  expect(couchdb({ url }).id).toBe(`couchdb:${url}`);
});
