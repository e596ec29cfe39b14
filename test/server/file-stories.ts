import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { documentFiles, type FileStore } from '../../src/server/files/index.ts';
import { createHandler, type Handler, memory } from '../../src/server/index.ts';

const MEGABYTE = 1024 * 1024;
const DEVICE = 'device-of-somebody';

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A handler with files: who asks is in a header, and reads what is his. */
function serverOver(store: FileStore, options = {}) {
  const documents = memory();
  const kept = documentFiles({ store, ...options });
  const handler = createHandler({
    ...{ store: documents, files: kept, onError: (error) => console.error(error) },
    authorize: (request) => {
      const user = request.headers.get('x-user');
      if (user === 'all') return true;
      if (!user) return undefined;
      return { read: ({ owner }) => owner === user, write: ({ owner }) => owner === user };
    },
  });
  return { documents, kept, handler };
}

const urlOf = (sha256: string, query: object = {}) =>
  `https://example.com/jobs/files/${sha256}?${new URLSearchParams(query as never)}`;

const headersOf = (user = 'all') => ({ 'x-user': user });

async function put(
  handler: Handler,
  sha256: string,
  query: object,
  body: Uint8Array,
  user?: string,
) {
  const init = { method: 'PUT', headers: headersOf(user), body: body as never };
  const response = await handler(new Request(urlOf(sha256, { device: DEVICE, ...query }), init));
  return { status: response.status, ...((await response.json()) as any) };
}

/** Sends a file, in parts. */
async function send(handler: Handler, bytes: Uint8Array, user?: string, device = DEVICE) {
  const sha256 = hashOf(bytes);
  let answer: any;
  let from = 0;
  do {
    const part = bytes.subarray(from, from + MEGABYTE);
    answer = await put(handler, sha256, { device, from, size: bytes.length }, part, user);
    from = answer.received;
  } while (!answer.done);
  return sha256;
}

async function get(handler: Handler, sha256: string, user?: string, query = {}, range?: string) {
  const headers = { ...headersOf(user), ...(range && { range }) };
  const response = await handler(new Request(urlOf(sha256, query), { headers }));
  return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()), response };
}

let keys = 0;

/** Pushes a document that names files. */
async function name(
  handler: Handler,
  id: string,
  owner: string,
  named: readonly (readonly [sha256: string, size: number])[],
  { user = owner, device = DEVICE, base = null as string | null } = {},
) {
  const photos = named.map(([sha256, size]) => ({ $plain: { $file: { sha256, size, type: '' } } }));
  const row = { id, base, key: `k.${++keys}`, device, document: { _id: id, owner, photos } };
  const headers = { ...headersOf(user), 'content-type': 'application/json' };
  const body = JSON.stringify({ rows: [row] });
  const request = new Request('https://example.com/jobs/push', { method: 'POST', headers, body });
  return ((await (await handler(request)).json()) as any).results[0];
}

/** What files do over a store. */
export function fileStories(storeOf: () => Promise<FileStore> | FileStore): void {
  test('a file comes in parts, goes on where it was torn, and is read whole and in ranges', async () => {
    const { handler } = serverOver(await storeOf());
    const bytes = randomBytes(2.5 * MEGABYTE);
    const sha256 = hashOf(bytes);
    const size = bytes.length;
    const first = bytes.subarray(0, MEGABYTE);
    expect(await put(handler, sha256, { from: 0, size }, first)).toMatchObject({
      received: MEGABYTE,
      done: false,
    });
    // The answer was lost: the part comes again, and one that is not next.
    expect(await put(handler, sha256, { from: 0, size }, first)).toMatchObject({
      received: MEGABYTE,
    });
    expect(await put(handler, sha256, { from: 9, size }, first)).toMatchObject({
      received: MEGABYTE,
    });
    const state = async () =>
      JSON.parse(
        String(Buffer.from((await get(handler, sha256, 'all', { device: DEVICE })).bytes)),
      );
    expect(await state()).toEqual({ received: MEGABYTE, done: false });
    expect(await get(handler, sha256)).toMatchObject({ status: 404 });
    await send(handler, bytes);
    expect(await state()).toEqual({ done: true });
    expect(await put(handler, sha256, { from: 0, size }, first)).toMatchObject({ done: true });
    expect(await name(handler, 'a', 'ada', [[sha256, size]], { user: 'all' })).toHaveProperty(
      'version',
    );
    const whole = await get(handler, sha256);
    expect(whole.status).toBe(200);
    expect(hashOf(whole.bytes)).toBe(sha256);
    expect(whole.response.headers.get('content-disposition')).toBe('attachment');
    const part = await get(handler, sha256, 'all', {}, 'bytes=1048570-1048585');
    expect([part.status, part.bytes]).toEqual([
      206,
      new Uint8Array(bytes.subarray(1048570, 1048586)),
    ]);
    const next = await get(handler, sha256, 'all', { from: MEGABYTE });
    expect(hashOf(next.bytes)).toBe(hashOf(bytes.subarray(MEGABYTE, 2 * MEGABYTE)));
    expect(await get(handler, sha256, 'all', { from: size })).toMatchObject({ status: 416 });
  });

  test('an empty file', async () => {
    const { handler } = serverOver(await storeOf());
    const sha256 = await send(handler, new Uint8Array());
    await name(handler, 'a', 'ada', [[sha256, 0]], { user: 'all' });
    expect(await get(handler, sha256)).toMatchObject({ status: 200, bytes: new Uint8Array() });
  });

  test('a file that lies about its hash or its size is not kept', async () => {
    const { handler } = serverOver(await storeOf(), { limit: 1000 });
    const [bytes, other] = [randomBytes(100), randomBytes(100)];
    const sha256 = hashOf(bytes);
    const lies = [
      put(handler, sha256, { from: 0, size: 100 }, other),
      put(handler, sha256, { from: 0, size: 99, device: 'another-device-of' }, bytes),
      put(handler, sha256, { from: 0, size: 200, device: 'device-without-end' }, new Uint8Array()),
    ];
    for (const lie of lies)
      expect(await lie).toMatchObject({ status: 422, error: { code: 'file_damaged' } });
    expect(await put(handler, sha256, { from: 0, size: 1001 }, bytes)).toMatchObject({
      status: 413,
      error: { code: 'file_too_large' },
    });
    // Another device has sent the half of something else: that is apart.
    await put(
      handler,
      sha256,
      { from: 0, size: 100, device: 'device-of-an-attacker' },
      other.subarray(50),
    );
    await send(handler, bytes);
    for (const size of [99, 101])
      expect(await name(handler, 'a', 'ada', [[sha256, size]])).toMatchObject({
        rejected: { retry: true },
      });
    expect(await name(handler, 'a', 'ada', [[sha256, 100]])).toHaveProperty('version');
    expect(await name(handler, 'b', 'ada', [[hashOf(other), 100]])).toHaveProperty('rejected');
  });

  test('who may read a document that names a file reads it, and nobody else names it', async () => {
    const { handler } = serverOver(await storeOf());
    const bytes = randomBytes(100);
    const sha256 = await send(handler, bytes, 'ada');
    const named = [[sha256, 100]] as const;
    expect(await get(handler, sha256, 'ada')).toMatchObject({ status: 404 });
    await name(handler, 'a', 'ada', named);
    expect(await get(handler, sha256, 'ada')).toMatchObject({ status: 200 });
    for (const user of ['ben', ''])
      expect((await get(handler, sha256, user)).status).toBe(user ? 404 : 401);
    // To know the hash is not to have the file.
    const device = 'device-of-ben-himself';
    expect(await name(handler, 'b', 'ben', named, { device })).toHaveProperty('rejected');
    const asked = await get(handler, sha256, 'ben', { device });
    expect(JSON.parse(String(Buffer.from(asked.bytes)))).toEqual({ received: 0, done: false });
    await send(handler, bytes, 'ben', device);
    expect(await name(handler, 'b', 'ben', named, { device })).toHaveProperty('version');
    expect(await get(handler, sha256, 'ben')).toMatchObject({ status: 200 });
    // Another device of hers has not sent it, and may read it.
    const others = { device: 'another-device-of' };
    expect(await name(handler, 'c', 'ada', named, others)).toHaveProperty('version');
  });

  test('a file that no document names goes after the grace period', async () => {
    const { handler, kept, documents } = serverOver(await storeOf(), { grace: 0.05 });
    const [named, former, torn] = [randomBytes(10), randomBytes(20), randomBytes(30)];
    const hashes = [await send(handler, named), await send(handler, former)] as const;
    await put(handler, hashOf(torn), { from: 0, size: 30 }, torn.subarray(0, 5));
    await name(handler, 'a', 'ada', [[hashes[0], 10]], { user: 'all' });
    const { version: base } = await name(handler, 'b', 'ada', [[hashes[1], 20]], { user: 'all' });
    await name(handler, 'b', 'ada', [], { user: 'all', base });
    expect((await get(handler, hashes[1])).status).toBe(404);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await kept.collect(documents)).toBe(2);
    expect(await kept.collect(documents)).toBe(0);
    expect((await get(handler, hashes[0])).bytes).toEqual(new Uint8Array(named));
    // It can be sent again.
    await send(handler, former);
    expect(await name(handler, 'c', 'ada', [[hashes[1], 20]], { user: 'all' })).toHaveProperty(
      'version',
    );
  });
}
