import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { http, type PulledPage, type RemoteFetch } from '../../../src/replication/index.ts';
import { jsonAnswer } from '../fetching/answers.ts';

const url = 'https://example.com/sync/orders';
const LONG = 'application/x-ndjson';
const PACKED = 'application/x-ndjson+gzip';
const signal = new AbortController().signal;
const ask = { limit: 1000, signal, isFirst: true };
const good = { id: 'a', version: '1', fields: { count: 1 } };
const end = { checkpoint: 'e.1', more: false };

const linesOf = (...lines: unknown[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

const packed = new Uint8Array(gzipSync(linesOf(good, end)));

/** What a pull gets of a server that sends a long page first, and ordinary ones after. */
function pulled(content: string | Uint8Array, type = LONG) {
  const accepted: (string | undefined)[] = [];
  const fetch: RemoteFetch = async (_, { headers }) => {
    const { accept } = headers as Record<string, string>;
    accepted.push(accept);
    if (!accept?.includes(LONG)) return jsonAnswer({ changes: [], checkpoint: 'e.9', more: false });
    return new Response(content as BodyInit, { headers: { 'content-type': type } });
  };
  const remote = http({ url, fetch });
  return { remote, accepted, page: remote.pull(undefined, ask) };
}

const contentOf = ({ changes, ...page }: PulledPage<string>) => ({
  ...page,
  changes: changes.map(({ id, version, document }) => ({ id, version, document })),
});

test.for<[string, object, (object | undefined)?]>([
  ['a plain one', good],
  ['no fields', { id: 'a', version: '1', fields: {} }],
  ['a nested _id', { id: 'a', version: '1', fields: { x: { _id: 'b' } } }],
  ['another order', { fields: { x: 1 }, version: '1', id: 'a' }],
  ['managed fields', { id: 'a', version: '1', fields: { _archived: true } }],
  ['an escape', { id: 'a"', version: '1', fields: { 'x"': '"}}' } }],
  ['a deletion', { id: 'a', version: '1', deleted: true }],
  ['a wrapper', { id: 'a', version: '1', fields: { at: { $date: 0 } } }, { at: new Date(0) }],
  ['a document', { id: 'a', version: '1', document: { _id: 'a', x: 1 } }, { x: 1 }],
])('a line is read: %s', async ([, change, fields = (change as Partial<typeof good>).fields]) => {
  const { page, accepted } = pulled(linesOf(change, end));
  const { id, version } = change as typeof good;
  const document = fields && { _id: id, ...fields };
  expect(contentOf(await page)).toEqual({
    ...{ checkpoint: 'e.1', more: false, rejected: [] },
    changes: [{ id, version, document }],
  });
  expect(accepted).toEqual([expect.stringContaining(LONG)]);
});

describe('what is no long page is not taken, and from then on pages are ordinary ones', () => {
  test.for<[string, string]>([
    ['nothing', ''],
    ['no last line', linesOf(good)],
    ['half a line', linesOf(good, end).slice(0, 40)],
    ['lines behind the last', linesOf(good, end, good)],
    ['two last lines', linesOf(end, end)],
    ['an empty line', linesOf(good, '', end)],
    ['HTML', '<html>\n</html>\n'],
    ['an ordinary answer', linesOf({ changes: [good], ...end })],
    ['a line that is a list', linesOf([good], end)],
    ['a line that is null', linesOf(null, end)],
    ['no checkpoint', linesOf(good, { more: false })],
    ['no "more"', linesOf(good, { checkpoint: 'e.1' })],
    ['the document of another', linesOf({ ...good, fields: { _id: 'b' } }, end)],
    ['fields that are a list', linesOf({ ...good, fields: [] }, end)],
    ['fields of a deletion', linesOf({ ...good, deleted: true }, end)],
    ['neither fields nor deletion', linesOf({ id: 'a', version: '1' }, end)],
    ['a version that is a number', linesOf({ ...good, version: 1 }, end)],
    ['an endless version', linesOf({ ...good, version: 'x'.repeat(201) }, end)],
    ['no version', linesOf({ id: 'a', fields: {} }, end)],
    [
      'a line that hides another',
      linesOf('{"id":"a","version":"1","fields":{"x":1},"y":{"z":1}}x}', end),
    ],
    ['two documents', linesOf('{"id":"a","version":"1","fields":{"x":1},"fields":{"x":2}}x}', end)],
    ['a forbidden key', linesOf('{"id":"a","version":"1","fields":{"__proto__":{}}}', end)],
    ['a key inside', linesOf('{"id":"a","version":"1","fields":{"x":{"__proto__":1}}}', end)],
    ['an endless number', linesOf('{"id":"a","version":"1","fields":{"x":1e999}}', end)],
    ['an unknown mark', linesOf({ ...good, fields: { x: { $x: 1 } } }, end)],
    [
      'a deep document',
      linesOf(
        `{"id":"a","version":"1","fields":{"x":${'['.repeat(2000)}${']'.repeat(2000)}}}`,
        end,
      ),
    ],
    ['too many lines', linesOf(...Array(20_001).fill(good), end)],
    ['too many bytes', linesOf(...Array(20).fill({ ...good, x: 'x'.repeat(1e6) }), end)],
    ['an endless line', 'x'.repeat(17e6)],
  ])('%s', async ([, text]) => {
    const { remote, page, accepted } = pulled(text);
    expect(await page).toMatchObject({ changes: [], checkpoint: 'e.9' });
    await remote.pull(undefined, ask);
    expect(accepted).toEqual([
      expect.stringContaining(LONG),
      'application/json',
      'application/json',
    ]);
  });
});

test('a packed page is read as its lines are', async () => {
  const { page, accepted } = pulled(packed, PACKED);
  expect(contentOf(await page)).toMatchObject({
    checkpoint: 'e.1',
    changes: [{ document: { _id: 'a', count: 1 } }],
  });
  expect(accepted[0]).toBe(`${PACKED}, ${LONG}, application/json`);
});

test.for<[string, Uint8Array | string]>([
  ['plain lines', linesOf(good, end)],
  ['nothing', ''],
  ['the first half', packed.subarray(0, 50)],
  ['a wrong checksum', packed.with(-8, 7)],
  ['an endless line', gzipSync(Buffer.alloc(1e8, 'x'), { level: 1 })],
])('no packed page, and pages are ordinary ones from then on: %s', async ([, content]) => {
  const { remote, page } = pulled(content, PACKED);
  // As a page that breaks off, or as one that is no long page.
  const code = await page.then(
    () => undefined,
    (error) => error.code,
  );
  expect([undefined, 'remote_offline']).toContain(code);
  expect(await remote.pull(undefined, ask)).toMatchObject({ changes: [], checkpoint: 'e.9' });
});

test.for(['application/json', 'text/plain', ''])('lines as "%s" are refused', async (type) => {
  const { page } = pulled(linesOf(good, end), type);
  await expect(page).rejects.toMatchObject({ code: 'answer_invalid' });
});

test('an older server answers as ever, and pulls that are not the first ask as ever', async () => {
  const change = { id: 'a', version: '1', document: { _id: 'a', count: 1 } };
  const answer = { changes: [change], ...end };
  const { remote, page, accepted } = pulled(JSON.stringify(answer), 'application/json');
  expect(contentOf(await page)).toMatchObject(answer);
  await remote.pull('e.1', { ...ask, isFirst: false });
  expect(accepted[1]).toBe('application/json');
});

test('a page that breaks off is an error, and the next one is an ordinary one', async () => {
  let pulls = 0;
  const fetch: RemoteFetch = async () => {
    if (++pulls > 1) return jsonAnswer({ changes: [], ...end });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(linesOf(good))),
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
    return new Response(body, { headers: { 'content-type': LONG } });
  };
  const remote = http({ url, fetch });
  await expect(remote.pull(undefined, ask)).rejects.toMatchObject({ code: 'remote_offline' });
  expect(await remote.pull(undefined, ask)).toMatchObject({ changes: [], checkpoint: 'e.1' });
});
