import { createHash, randomBytes } from 'node:crypto';
import { expect, test, vi } from 'vitest';
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
  { user = owner, device = DEVICE, base = null as string | null, key = `k.${++keys}` } = {},
) {
  const photos = named.map(([sha256, size]) => ({ $plain: { $file: { sha256, size, type: '' } } }));
  const row = { id, base, key, device, document: { _id: id, owner, photos } };
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
        String(Buffer.from((await get(handler, sha256, 'all', { device: DEVICE, size })).bytes)),
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
    const asked = await get(handler, sha256, 'ben', { device, size: 100 });
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

  test('an upload stays what it was while its hash is made', async () => {
    const store = await storeOf();
    const [bytes, other] = [randomBytes(100), randomBytes(50)];
    const sha256 = hashOf(bytes);
    let attack: (() => Promise<unknown>) | undefined;
    const slow = changed(store, 'uploaded', async (read) => {
      const part = await read();
      const now = attack;
      attack = undefined;
      await now?.();
      return part;
    });
    const { handler } = serverOver(slow);
    const attacks = [
      () => put(handler, sha256, { from: 100, size: 200 }, other),
      async () => {
        await put(handler, sha256, { from: 100, size: 100 }, other);
        await put(handler, sha256, { from: 0, size: 200 }, randomBytes(100));
      },
    ];
    for (const one of attacks) {
      attack = one;
      await put(handler, sha256, { from: 0, size: 100 }, bytes);
    }
    await send(handler, bytes, 'all', 'device-of-somebody-else');
    expect(await name(handler, 'a', 'ada', [[sha256, 100]])).toHaveProperty('version');
    expect((await get(handler, sha256)).bytes).toEqual(new Uint8Array(bytes));
  });

  test('an upload whose process ended behind its last part is finished by the next request', async () => {
    const store = await storeOf();
    let ends = 2;
    const torn = changed(store, 'finish', (finish) => {
      if (--ends >= 0) throw new Error('The process has ended.');
      return finish();
    });
    const { handler } = serverOver(torn);
    const bytes = randomBytes(100);
    const [sha256, size] = [hashOf(bytes), 100];
    const quiet = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    for (const at of [0, 100])
      expect(await put(handler, sha256, { from: at, size }, bytes.subarray(at))).toMatchObject({
        status: 503,
      });
    quiet.mockRestore();
    const asked = await get(handler, sha256, 'all', { device: DEVICE, size });
    expect(JSON.parse(String(Buffer.from(asked.bytes)))).toEqual({ done: true });
    expect(await name(handler, 'a', 'ada', [[sha256, size]])).toHaveProperty('version');
  });

  test('two requests that finish one upload at once both hear that it is done', async () => {
    const store = await storeOf();
    const [bytes, waiting] = [randomBytes(100), [] as (() => void)[]];
    const slow = changed(store, 'uploaded', async (read) => {
      // The second one reads the parts once the first one has made the file of them.
      if (waiting.push(() => undefined) > 1) await first;
      return read();
    });
    const { handler } = serverOver(slow);
    const [sha256, query] = [hashOf(bytes), { from: 0, size: 100 }];
    let isFinished: (value: unknown) => void = () => undefined;
    const first = new Promise((resolve) => {
      isFinished = resolve;
    });
    const both = [1, 2].map(() => put(handler, sha256, query, bytes));
    both[0]?.then(isFinished);
    both[1]?.then(isFinished);
    for (const answer of both) expect(await answer).toMatchObject({ done: true });
    expect(await name(handler, 'a', 'ada', [[sha256, 100]])).toHaveProperty('version');
  });

  test('the server tells no user which files of others there are', async () => {
    const { handler } = serverOver(await storeOf());
    const [bytes, missing] = [randomBytes(100), hashOf(randomBytes(1))];
    const sha256 = await send(handler, bytes, 'ada');
    await name(handler, 'a', 'ada', [[sha256, 100]]);
    const device = 'device-of-ben-himself';
    for (const size of [99, 100]) {
      const heard = [sha256, missing].map(async (hash) => {
        const { rejected } = await name(handler, 'b', 'ben', [[hash, size]], { device });
        const answers = [
          await get(handler, hash, 'ben', { device, size }),
          await get(handler, hash, 'ben'),
          await get(handler, hash, 'ben', {}, 'bytes=0-1'),
          await get(handler, hash, 'ben', {}, 'bytes=1000-'),
          await get(handler, hash, 'ben', { from: 1000 }),
        ].map(({ status, bytes: said }) => [status, String(Buffer.from(said))]);
        const part = await put(handler, hash, { from: 5, size, device }, bytes, 'ben');
        return JSON.stringify([rejected, answers, part]).replaceAll(hash, '');
      });
      const [theirs, none] = await Promise.all(heard);
      expect(theirs).toBe(none);
    }
  });

  test('a document that is named while garbage is collected keeps its file', async () => {
    const store = await storeOf();
    const bytes = randomBytes(100);
    const [sha256, file] = [hashOf(bytes), { collection: 'jobs', sha256: hashOf(bytes) }];
    let isNamed = false;
    const listing = changed(store, 'names', async (list) => {
      const ids = await list();
      // It is allowed to, and is stored in a moment.
      if (ids.length > 0 && !isNamed) await store.name('jobs', 'a', [sha256]);
      isNamed = true;
      return ids;
    });
    const { handler, kept, documents } = serverOver(listing, { grace: 0.02 });
    await send(handler, bytes);
    await store.name('jobs', 'a', [sha256]);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await kept.collect(documents)).toBe(0);
    expect(await store.names(file, 10)).toEqual(['a']);
  });

  test('a push that comes again is answered as the first time, though its file is gone', async () => {
    const store = await storeOf();
    const { handler } = serverOver(store);
    const sha256 = await send(handler, randomBytes(100));
    const again = { key: 'k.again' };
    const { version } = await name(handler, 'a', 'ada', [[sha256, 100]], again);
    const [file, since] = [{ collection: 'jobs', sha256 }, new Date(Date.now() + 60_000)];
    await store.unname(file, ['a'], since);
    expect(await store.remove(file, since)).toBe(true);
    expect(await name(handler, 'a', 'ada', [[sha256, 100]], again)).toEqual({ version });
  });

  test('what only looks like a file is none', async () => {
    const { handler } = serverOver(await storeOf());
    const sha256 = hashOf(randomBytes(1));
    const odd = [
      { $file: { sha256: '\u0000', size: 1 } },
      { $file: { sha256, size: -1 } },
      { $file: { sha256, size: 1 }, more: 1 },
    ];
    const document = { _id: 'odd', owner: 'ada', odd: odd.map((one) => ({ $plain: one })) };
    const body = JSON.stringify({ rows: [{ id: 'odd', base: null, key: 'k.odd', document }] });
    const headers = { ...headersOf(), 'content-type': 'application/json' };
    const request = new Request('https://example.com/jobs/push', { method: 'POST', headers, body });
    const [result] = ((await (await handler(request)).json()) as any).results;
    // PostgreSQL stores no NUL, wherever it is.
    expect(JSON.stringify(result)).not.toContain('file');
  });
}

/** A store that does one thing otherwise. */
function changed<Name extends keyof FileStore>(
  store: FileStore,
  name: Name,
  run: (call: () => any) => any,
): FileStore {
  return new Proxy(store, {
    get: (target, key) => {
      const call = (...args: unknown[]) => (target as any)[key](...args);
      return key === name ? (...args: unknown[]) => run(() => call(...args)) : call;
    },
  });
}
