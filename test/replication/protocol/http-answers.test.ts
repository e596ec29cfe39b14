import { describe, expect, test } from 'vitest';
import {
  readErrorAnswer,
  readPullAnswer,
  readPushAnswer,
  readWatchAnswer,
} from '../../../src/replication/protocol/http-answers.ts';
import { toWireRow } from '../../../src/replication/protocol/http-requests.ts';
import type { LocalChange, Remote } from '../../../src/replication/protocol/remote.ts';
import { createHandler, memory } from '../../../src/server/index.ts';

const handler = createHandler({ store: memory(), authorize: () => true });

async function call(name: string, body: object): Promise<unknown> {
  const response = await handler(
    new Request(`https://example.com/orders/${name}`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify(body),
    }),
  );
  return response.json();
}

/** The page's half, without a network. */
const remote: Remote<string> = {
  id: 'orders',
  pull: async (after = undefined, { limit }) =>
    readPullAnswer(await call('pull', { after: after ?? null, limit }), limit),
  push: async (rows) => readPushAnswer(await call('push', { rows: rows.map(toWireRow) }), rows),
};

const { signal } = new AbortController();
const ask = { limit: 10, signal };
const change = (document: object | undefined, base?: string): LocalChange => ({
  ...{ id: 'a', base, document, key: `r.${crypto.randomUUID()}` },
});

test('what page and server say to each other', async () => {
  const document = {
    _id: 'a',
    at: new Date(7),
    bytes: new Uint8Array([1, 2]),
    map: new Map([[1, 2n]]),
  };
  const first = change(document);
  const [made] = await remote.push([first], { signal });
  const { version } = made as { version: string };
  const page = await remote.pull(undefined, ask);
  expect(page.changes).toStrictEqual([{ id: 'a', version, document, key: first.key }]);
  const [conflict] = await remote.push([change(undefined, '0-old')], { signal });
  expect(conflict).toStrictEqual({ conflict: page.changes[0] });
  const [foreign] = await remote.push([change({ _id: 'b' })], { signal });
  expect(foreign).toStrictEqual({ rejected: { reason: expect.stringMatching(/_id/) } });
  await remote.push([change(undefined, version)], { signal });
  const next = await remote.pull(page.checkpoint, ask);
  expect(next).toMatchObject({ changes: [{ id: 'a', document: undefined }], more: false });
  expect(readWatchAnswer(await call('watch', { after: page.checkpoint }))).toEqual({
    changed: true,
  });
  expect(readErrorAnswer(await call('pull', { limit: 0 }))?.code).toBe('message_invalid');
});

describe('answers of a hostile server are refused as a whole', () => {
  const good = { id: 'a', version: 'v', document: { _id: 'a' } };
  const page = { changes: [good], checkpoint: 'c', more: false };

  test('unless nothing is wrong with them', () => {
    expect(readPullAnswer(page, 1).changes).toEqual([good]);
  });

  test.each<[string, unknown]>([
    ['HTML', '<html>'],
    ['null', null],
    ['no changes', { ...page, changes: undefined }],
    ['more than the limit', { ...page, changes: [good, good] }],
    ['no checkpoint', { ...page, checkpoint: null }],
    ['a checkpoint without end', { ...page, checkpoint: 'c'.repeat(201) }],
    ['more of another type', { ...page, more: 'yes' }],
    ['reset of another type', { ...page, reset: 1 }],
    ...[
      null,
      { ...good, id: '' },
      { ...good, id: 7 },
      { ...good, version: '' },
      { ...good, version: 'v'.repeat(201) },
      { ...good, version: 7 },
      { ...good, key: {} },
      { ...good, document: undefined },
      { ...good, document: null },
      { ...good, deleted: true },
      { ...good, document: { _id: 'b' } },
      { ...good, document: { _id: 'a', x: { $map: [[1]] } } },
      { ...good, document: JSON.parse('{"_id":"a","__proto__":{"admin":true}}') },
    ].map((bad): [string, unknown] => [
      `the change ${JSON.stringify(bad)}`,
      { ...page, changes: [bad] },
    ]),
  ])('%s', (_, answer) => {
    expect(() => readPullAnswer(answer, 1)).toThrow();
  });

  test.each<unknown>([
    [],
    [{}],
    [{ version: 'v' }, { version: 'v' }],
    [{ version: 7 }],
    [{ version: 'v', document: { _id: 'b' } }],
    [{ conflict: { ...good, id: 'b', document: { _id: 'b' } } }],
    [{ conflict: { id: 'a', version: 'v' } }],
    [{ rejected: true }],
    [{ rejected: { reason: {} } }],
  ])('the results %j', (results) => {
    expect(() => readPushAnswer({ results }, [change({ _id: 'a' })])).toThrow();
  });

  test.each([null, 'x', {}, { changed: 1 }])('the answer of watch %j', (answer) => {
    expect(() => readWatchAnswer(answer)).toThrow();
  });

  test.each([null, '<html>', {}, { error: 'x' }, { error: { code: 1, message: '' } }])(
    '%j names no error',
    (answer) => {
      expect(readErrorAnswer(answer)).toBeUndefined();
    },
  );
});
