import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { http, type PulledPage, type RemoteFetch } from '../../../src/replication/index.ts';
import { packedPulls } from '../../../src/replication/protocol/remote.ts';
import { jsonAnswer } from '../fetching/answers.ts';
import { badLines, good, lineOf, linesOf } from './bad-lines.ts';

const url = 'https://example.com/sync/orders';
const PACKED = 'application/vnd.cairn.page';
const signal = new AbortController().signal;
const ask = { limit: 1000, signal };
const end = { checkpoint: 'e.1', more: false };

/** A page of these lines. */
const pageOf = (lines: string | Uint8Array, first: unknown = end) =>
  Buffer.concat([Buffer.from(lineOf(first)), gzipSync(lines, { level: 1 })]);

/** What a pull gets of a server that sends a packed page first, and ordinary ones after. */
function pulled(content: string | Uint8Array, type = PACKED) {
  const accepted: (string | undefined)[] = [];
  const fetch: RemoteFetch = async (_, { headers }) => {
    const { accept } = headers as Record<string, string>;
    accepted.push(accept);
    if (!accept?.includes(PACKED))
      return jsonAnswer({ changes: [], checkpoint: 'e.9', more: false });
    return new Response(content as BodyInit, { headers: { 'content-type': type } });
  };
  const remote = http({ url, fetch });
  return { remote, accepted, pull: () => pullFirst(remote) };
}

/** As a device does it that cannot add a page as it is. */
async function pullFirst({ pull }: ReturnType<typeof http>): Promise<PulledPage<string>> {
  const page = await packedPulls.get(pull)?.(undefined, ask);
  if (!page) throw new Error('the remote sends no packed pages');
  return 'packed' in page ? page.unpack(ask) : page;
}

const contentOf = ({ changes, checkpoint, more, rejected }: PulledPage<string>) => ({
  ...{ checkpoint, more, rejected },
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
  const { pull, accepted } = pulled(pageOf(linesOf(change)));
  const { id, version } = change as typeof good;
  const document = fields && { _id: id, ...fields };
  expect(contentOf(await pull())).toEqual({
    ...{ checkpoint: 'e.1', more: false, rejected: [] },
    changes: [{ id, version, document }],
  });
  expect(accepted).toEqual([`${PACKED}, application/json`]);
});

const packed = pageOf(linesOf(good));
const start = packed.indexOf('\n') + 1;

describe('what is no packed page is not taken, and from then on pages are ordinary ones', () => {
  test.for<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['no first line', packed.subarray(start)],
    ['a first line alone', packed.subarray(0, start)],
    ['half a first line', packed.subarray(0, 10)],
    ['an endless first line', 'x'.repeat(2e6)],
    ['HTML', '<html>\n</html>\n'],
    ['an ordinary answer', lineOf({ changes: [good], ...end })],
    ['lines that are not compressed', linesOf(end, good)],
    ['the first half', packed.subarray(0, start + 25)],
    ['a wrong checksum', Uint8Array.from(packed).with(-8, 7)],
    ['something behind it', Buffer.concat([packed, Buffer.from('x')])],
    ['no checkpoint', pageOf(linesOf(good), { more: false })],
    ['no "more"', pageOf(linesOf(good), { checkpoint: 'e.1' })],
    ['a first line that is a list', pageOf(linesOf(good), [end])],
    ['a first line that is null', pageOf(linesOf(good), null)],
    ['too many bytes', Buffer.alloc(17e6, 'x')],
  ])('%s', async ([, content]) => {
    await takesOrdinaryPages(content);
  });

  test.for(badLines)('%s', async ([, lines]) => {
    await takesOrdinaryPages(pageOf(lines));
  });

  async function takesOrdinaryPages(content: string | Uint8Array) {
    const { pull, accepted } = pulled(content);
    // What breaks off is an error, as any answer that does.
    await pull().then(
      (page) => expect(page).toMatchObject({ changes: [], checkpoint: 'e.9' }),
      ({ code }) => expect(code).toBe('remote_offline'),
    );
    expect(await pull()).toMatchObject({ changes: [], checkpoint: 'e.9' });
    expect(accepted.slice(1)).not.toContain(accepted[0]);
  }
});

test.for(['application/json', 'text/plain', ''])('a page as "%s" is refused', async (type) => {
  const { pull, accepted } = pulled(packed, type);
  expect(await pull()).toMatchObject({ changes: [], checkpoint: 'e.9' });
  expect(await pull()).toMatchObject({ checkpoint: 'e.9' });
  expect(accepted).toHaveLength(3);
});

test.for<[string, () => Response | Promise<Response>]>([
  ['a firewall answers 403', () => new Response('<h1>No</h1>', { status: 403 })],
  ['a firewall answers 406', () => new Response(null, { status: 406 })],
  ['a fetch of the app reads JSON', () => new Response('no JSON').json()],
])('ordinary pages come where %s', async ([, answer]) => {
  const fetch: RemoteFetch = async (_, { headers }) => {
    const { accept } = headers as Record<string, string>;
    if (accept?.includes(PACKED)) return answer();
    return jsonAnswer({ changes: [], checkpoint: 'e.9', more: false });
  };
  expect(await pullFirst(http({ url, fetch }))).toMatchObject({ checkpoint: 'e.9' });
});

test('an older server answers as ever, and pulls that are not the first ask as ever', async () => {
  const change = { id: 'a', version: '1', document: { _id: 'a', count: 1 } };
  const answer = { changes: [change], ...end };
  const { pull, remote, accepted } = pulled(JSON.stringify(answer), 'application/json');
  expect(contentOf(await pull())).toMatchObject(answer);
  await remote.pull('e.1', ask);
  expect(accepted[1]).toBe('application/json');
});

test('a page that breaks off is an error, and the next one is an ordinary one', async () => {
  let pulls = 0;
  const fetch: RemoteFetch = async () => {
    if (++pulls > 1) return jsonAnswer({ changes: [], ...end });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(packed.subarray(0, start + 10)),
      pull: (controller) => controller.error(new TypeError('terminated')),
    });
    return new Response(body, { headers: { 'content-type': PACKED } });
  };
  const remote = http({ url, fetch });
  await expect(pullFirst(remote)).rejects.toMatchObject({ code: 'remote_offline' });
  expect(await pullFirst(remote)).toMatchObject({ changes: [], checkpoint: 'e.1' });
});

test.for([403, 429, 503])('what is refused with %s is asked once', async (status) => {
  let asked = 0;
  const fetch: RemoteFetch = async () => {
    asked++;
    return jsonAnswer({ error: { code: 'refused', message: 'no' } }, status);
  };
  await expect(pullFirst(http({ url, fetch }))).rejects.toHaveProperty('code');
  expect(asked).toBe(1);
});

test('a browser that cannot unpack asks for ordinary pages', async () => {
  const { DecompressionStream: own } = globalThis;
  Reflect.deleteProperty(globalThis, 'DecompressionStream');
  onTestFinished(() => {
    globalThis.DecompressionStream = own;
  });
  const { pull, accepted } = pulled(packed);
  expect(await pull()).toMatchObject({ checkpoint: 'e.9' });
  expect(accepted).toEqual(['application/json']);
});
