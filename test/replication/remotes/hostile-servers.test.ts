import { afterEach, describe, expect, test } from 'vitest';
import { couchdb, http, type Remote, type RemoteFetch } from '../../../src/replication/index.ts';
import { endlessAnswer, jsonAnswer, textAnswer } from '../fetching/answers.ts';
import { Device } from './device.ts';

const remotes: Record<string, (fetch: RemoteFetch) => Remote> = {
  http: (fetch) => http({ url: 'https://example.com/sync/orders', fetch }),
  couchdb: (fetch) => couchdb({ url: 'https://example.com/orders', fetch }),
};

const answers: [string, string, string, () => Response][] = [
  ['HTML', 'answer_invalid', 'failed', () => textAnswer('<h1>Hi</h1>', 'text/html')],
  ['truncated JSON', 'answer_invalid', 'failed', () => textAnswer('{"changes":[')],
  ['another shape', 'answer_invalid', 'failed', () => jsonAnswer([1, 2])],
  ['an endless body', 'answer_invalid', 'failed', () => endlessAnswer(() => undefined)],
  ['a redirect', 'answer_invalid', 'failed', () => Response.redirect('https://evil.example/')],
  ['401', 'remote_unauthorized', 'needs_auth', () => jsonAnswer({}, 401)],
  ['403', 'remote_forbidden', 'failed', () => jsonAnswer({}, 403)],
  ['404', 'remote_refused', 'failed', () => jsonAnswer({}, 404)],
  ['429', 'remote_failed', 'waiting', () => jsonAnswer({}, 429, { 'retry-after': '5' })],
  ['500', 'remote_failed', 'waiting', () => textAnswer('oops', 'text/plain', 500)],
];

describe.for(Object.keys(remotes))('replicate() with %s and a server that answers', (name) => {
  let device: Device;
  afterEach(() => device.close());

  test.for(answers)('%s: %s', async ([, code, state, answer]) => {
    const make = remotes[name] as (fetch: RemoteFetch) => Remote;
    device = new Device(make(async () => answer()));
    await device.orders.insert({ _id: 'o', item: 'lamp' });
    await device.reaches(state);
    expect(device.sync.status).toMatchObject({ state, error: { code }, pending: 1, rejected: 0 });
    expect(await device.content()).toEqual([{ _id: 'o', item: 'lamp' }]);
  });

  test('one bad document among good ones: nothing of the page is stored', async () => {
    const documents = [{ _id: 'a' }, { _id: 'other' }, { _id: 'c' }].map((document, index) => ({
      ...{
        id: 'abc'[index],
        version: '1',
        _rev: '1-a',
        document,
        doc: { ...document, _rev: '1-a' },
      },
    }));
    const fetch: RemoteFetch = async (url) => {
      if (url.includes('/pull'))
        return jsonAnswer({ changes: documents, checkpoint: 'e.1', more: false });
      if (url.includes('/_changes')) return jsonAnswer({ results: documents, last_seq: 3 });
      return jsonAnswer({ instance_start_time: '1' });
    };
    device = new Device((remotes[name] as (fetch: RemoteFetch) => Remote)(fetch));
    await device.reaches('failed');
    expect(device.sync.status.error).toMatchObject({ code: 'answer_invalid' });
    expect(await device.content()).toEqual([]);
  });
});
