import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { Database, memoryDriver } from '../../src/index.ts';
import { http, replicate } from '../../src/replication/index.ts';
import { type PackedPage, packedPulls } from '../../src/replication/protocol/remote.ts';
import { createHandler, type Handler, memory, type Store } from '../../src/server/index.ts';
import { closeDevices, Device } from './device.ts';
import { badLines, good, linesOf } from './http/bad-lines.ts';

const URL_OF_ORDERS = 'https://example.com/sync/orders';
const PACKED = 'application/vnd.cairn.page';

afterEach(closeDevices);

/** A document as a server has it; `gone`: it was deleted. */
interface Fields {
  readonly _id: string;
  readonly gone?: boolean;
  readonly [name: string]: unknown;
}

const KEPT = 1e7;

const handlerOf = (store: Store) => createHandler({ store, authorize: () => true });

/** @param types Gets the types of the answers to pulls. */
function remoteOf(handler: Handler, types: string[] = []) {
  const fetch = async (url: string, init: RequestInit) => {
    const response = await handler(new Request(url, init));
    if (url.endsWith('/pull')) types.push(response.headers.get('content-type') ?? '');
    return response;
  };
  return http({ url: URL_OF_ORDERS, fetch: fetch as never });
}

/** Counts the packed pages of a remote that the engine leaves to the page. */
function countUnpacked({ pull }: ReturnType<typeof http>): { unpacked: number } {
  const own = packedPulls.get(pull);
  const counted = { unpacked: 0 };
  packedPulls.set(pull, async (...asked) => {
    const page = await own?.(...asked);
    if (!page) throw new Error('the remote sends no packed pages');
    const unpack: PackedPage['unpack'] = (ask) => {
      counted.unpacked++;
      return (page as PackedPage).unpack(ask);
    };
    return 'packed' in page ? { ...page, unpack } : page;
  });
  return counted;
}

/** Until nobody has anything new for the others. */
async function settled(...devices: Device[]): Promise<void> {
  for (const each of [...devices, ...devices]) {
    each.sync.resume();
    await each.settled();
  }
}

let keys = 0;

/** Pushes documents as another device would. */
async function push(store: Store, documents: readonly Fields[]): Promise<void> {
  for (let from = 0; from < documents.length; from += 1000) {
    const part = documents.slice(from, from + 1000);
    const stored = await store.read(
      'orders',
      part.map(({ _id }) => _id),
    );
    const rows = part.map((document) => ({
      id: document._id,
      base: stored.find(({ id }) => id === document._id)?.version,
      key: `r.${++keys}`,
      document: document.gone ? undefined : document,
    }));
    for (const result of await store.push('orders', rows)) expect(result).toHaveProperty('version');
  }
}

const made = (count: number, fields: (nth: number) => object = (nth) => ({ count: nth })) =>
  Array.from({ length: count }, (_, nth): Fields => ({ _id: `o${nth}`, ...fields(nth) }));

/** Lists and objects in turn. */
function nested(depth: number): object {
  const inner = depth > 0 ? nested(depth - 1) : {};
  return { note: 'a "lamp"', list: [inner, [], null, true], object: { inner, none: {} } };
}

const LARGE = 2300;

/** Documents of several packed pages. */
const large = () => made(LARGE, (nth) => ({ count: nth, note: 'x'.repeat(4000) }));

describe('what came by packed pages equals what came by ordinary ones', () => {
  const times = { indicate_created_at: true, indicate_updated_at: true };
  const stamps = { _created_at: { $date: 5 }, _updated: true, _updated_at: { $date: 9 } };
  const escapes = made(300, (nth) => ({ _id: `"\\${nth}\n`, count: 1 }));
  const contents: [string, Fields[], object?][] = [
    ['plain documents', made(300)],
    ['documents with wrappers', made(300, (nth) => ({ at: { $date: nth } }))],
    ['fields like wrappers', made(300, (nth) => (nth % 2 ? { $date: nth } : { $x: nth }))],
    ['other alphabets', made(300, (nth) => ({ 'a"\\': `"\\\n${nth} ж😀` }))],
    ['ids with escapes', escapes],
    ['nested ones', made(300, (nth) => nested(nth % 6))],
    ['numbers of all kinds', made(300, (nth) => ({ at: [-(2 ** nth), 1 / (nth + 3), 3 ** -nth] }))],
    ['long ones', made(50, (nth) => ({ [`long ${nth}`]: 'x\n'.repeat(3000) }))],
    ['half a character', made(300, () => ({ text: 'half \ud83d' }))],
    ['no fields', made(300, () => ({}))],
    ['some that are deleted since', [...made(300), { _id: 'o7', gone: true }]],
    ['managed values', made(300, () => stamps), times],
    ['managed values of some', made(300, (nth) => (nth % 3 ? {} : stamps)), times],
    ['archived ones', made(300, (nth) => (nth % 2 ? { _archived: true } : {}))],
    ['an index', made(300), { indexes: ['count'] }],
    ['a unique index', made(300), { indexes: [{ fields: 'count', unique: true }] }],
    ['a text index', made(300, () => ({ note: 'a lamp' })), { indexes: [{ text: 'note' }] }],
    ['an index of times', made(300, () => stamps), { ...times, indexes: ['_created_at'] }],
    ['a few documents', made(5)],
    ['none', []],
  ];
  /** What columns, or the engine, cannot say. */
  const left = ['managed values of some', 'an index of times'];

  test.for(contents)('%s', async ([name, documents, settings = {}]) => {
    const store = memory();
    for (const one of documents) await push(store, [one]);
    const open = async (keep: number, type: string) => {
      const types: string[] = [];
      const handler = createHandler({ store, keep, authorize: () => true });
      const remote = remoteOf(handler, types);
      const counted = countUnpacked(remote);
      const device = new Device(remote, {}, undefined, settings);
      await device.settled();
      expect(counted.unpacked).toBe(Number(keep > 0 && left.includes(name)));
      expect(types[0]).toBe(type);
      return device;
    };
    const packed = await open(KEPT, PACKED);
    const short = await open(0, 'application/json');
    expect(await packed.all()).toEqual(await short.all());
    const gone = documents.filter((one) => one.gone).length;
    expect(Object.keys(await packed.all())).toHaveLength(documents.length - 2 * gone);
    for (const criteria of [{ count: { $lt: 10 } }, { _created_at: { $gt: new Date(1) } }])
      expect(await packed.orders.count(criteria as never)).toBe(
        await short.orders.count(criteria as never),
      );
    expect(packed.sync.status).toMatchObject({ pending: 0, state: 'idle' });
    // What was pulled is changed and pushed as what came by ordinary pages.
    await packed.orders.upsert({ _id: 'o1', note: 'changed' });
    await settled(packed, short);
    expect(await short.all()).toEqual(await packed.all());
    expect(await packed.sync.rejected()).toEqual([]);
    expect([...packed.sync.conflicts(), ...short.sync.conflicts()]).toEqual([]);
  });
});

test('a device that has pulled packed pages opens again, and has what it had', async () => {
  const store = memory();
  await push(store, made(3000));
  const storage = memoryDriver();
  const database = { name: 'again', storage };
  const indexes = ['count'];
  const open = () => new Device(remoteOf(handlerOf(store)), {}, database, { indexes });
  const first = open();
  await first.settled();
  const before = await first.all();
  await first.close();
  const second = open();
  await second.settled();
  expect(await second.all()).toEqual(before);
  expect(await second.orders.count({ count: { $gte: 2990 } })).toBe(10);
  await second.orders.patch('o1', { note: 'changed' });
  await second.settled();
  expect(second.sync.conflicts()).toEqual([]);
  expect(await store.read('orders', ['o1'])).toMatchObject([{ document: { note: 'changed' } }]);
});

describe('a remote around that of http()', () => {
  type Pull = ReturnType<typeof http>['pull'];
  type Page = Awaited<ReturnType<Pull>>;
  const around: [string, (page: Page) => Page, (nth: number) => object][] = [
    ['that copies pages has all documents', structuredClone, (count) => ({ count })],
    [
      'that changes documents is heeded',
      ({ changes, ...page }) => ({
        ...page,
        changes: changes.map(({ document, ...change }) => ({
          ...change,
          document: document && { ...document, seen: true },
        })),
      }),
      (count) => ({ count, seen: true }),
    ],
  ];

  test.for(around)('%s', async ([, copied, expected]) => {
    const store = memory();
    await push(store, made(300));
    const types: string[] = [];
    const remote = remoteOf(handlerOf(store), types);
    const pull: Pull = async (...ask) => copied(await remote.pull(...ask));
    const device = new Device({ id: 'around', pull, push: remote.push.bind(remote) });
    await settled(device);
    expect(types).not.toContain(PACKED);
    expect(await device.all()).toMatchObject(
      Object.fromEntries(made(300, expected).map((document) => [document._id, document])),
    );
  });
});

test('documents that were made here before are pushed, or merged, and none is lost', async () => {
  const store = memory();
  await push(store, made(1000));
  const device = new Device(remoteOf(handlerOf(store)));
  device.sync.pause();
  await device.orders.insertMany([
    { _id: 'mine', note: 'new' },
    { _id: 'o5', note: 'mine' },
  ]);
  device.sync.resume();
  await device.settled();
  const all = await device.all();
  expect(Object.keys(all)).toHaveLength(1001);
  expect(all.o5).toMatchObject({ count: 5, note: 'mine' });
  const onServer = await store.read('orders', ['mine', 'o5']);
  expect(onServer.map(({ document }) => document?.note).sort()).toEqual(['mine', 'new']);
});

test('what follows the push of a first round is an ordinary page', async () => {
  const store = memory();
  await push(store, made(300));
  const handler = handlerOf(store);
  const types: string[] = [];
  let pulls = 0;
  const device: Device = new Device(
    remoteOf(async (request) => {
      if (request.url.endsWith('/pull') && ++pulls === 1)
        await device.orders.insert({ note: 'mine' });
      return handler(request);
    }, types),
  );
  await device.settled();
  expect(types).toEqual([PACKED, 'application/json']);
});

test('a device that has pushed asks for no page that may be older than that', async () => {
  const store = memory();
  await push(store, made(300));
  const handler = handlerOf(store);
  await new Device(remoteOf(handler)).settled();
  const types: string[] = [];
  const device = new Device(remoteOf(handler, types));
  await device.settled();
  expect(types[0]).toBe(PACKED);
  await device.orders.patch('o1', { count: 1000 });
  await device.settled();
  await device.sync.stop({ forget: true });
  types.length = 0;
  const again = replicate(device.orders, { remote: remoteOf(handler, types) });
  await again.settled();
  expect(types).not.toContain(PACKED);
  await again.stop();
});

test('a key that a document here has is refused, as by ordinary pages', async () => {
  const store = memory();
  await push(store, made(300));
  const device = new Device(remoteOf(handlerOf(store)), {}, undefined, {
    indexes: [{ fields: 'count', unique: true }],
  });
  device.sync.pause();
  await device.orders.insert({ _id: 'mine', count: 5 });
  device.sync.resume();
  await expect(device.settled()).rejects.toMatchObject({ code: 'unique_violation' });
  await device.orders.patch('mine', { count: -5 });
  device.sync.resume();
  await device.settled();
  expect(Object.keys(await device.all())).toHaveLength(301);
});

test('what changes while pages are kept comes in a later page', async () => {
  const store = memory();
  await push(store, large());
  const handler = handlerOf(store);
  const types: string[] = [];
  await new Device(remoteOf(handler, types)).settled();
  expect(types.filter((type) => type === PACKED).length).toBeGreaterThan(2);
  await push(store, [{ _id: 'o1', count: -1 }, { _id: 'o2', gone: true }, { _id: 'new' }]);
  const second = new Device(remoteOf(handler));
  await second.settled();
  expect(Object.keys(await second.all())).toHaveLength(LARGE);
  expect(await second.orders.get('o1')).toMatchObject({ count: -1 });
  expect(await second.orders.get('o2')).toBeUndefined();
});

test('a server that was restored mixes no pages of its histories', async () => {
  const store = memory();
  await push(store, large());
  let current = store;
  const restoring: Store = {
    pull: (...ask) => current.pull(...ask),
    push: (...ask) => current.push(...ask),
    read: (...ask) => current.read(...ask),
    watch: (...ask) => current.watch(...ask),
  };
  const handler = handlerOf(restoring);
  await new Device(remoteOf(handler)).settled();
  current = store.copy();
  await push(current, [{ _id: 'o1', gone: true }, { _id: 'new' }]);
  const after = new Device(remoteOf(handler));
  await after.settled();
  expect(Object.keys(await after.all())).toHaveLength(LARGE);
  // And in the middle of a pull.
  let pulls = 0;
  const middle = new Device(
    remoteOf(async (request) => {
      if (request.url.endsWith('/pull') && ++pulls === 2) {
        current = current.copy();
        await push(current, [{ _id: 'o3', gone: true }]);
      }
      return handler(request);
    }),
  );
  await middle.settled();
  expect(Object.keys(await middle.all())).toHaveLength(LARGE - 1);
});

test('a crash between two pages loses nothing', async () => {
  const store = memory();
  await push(store, large());
  const handler = handlerOf(store);
  const database = { name: 'crashed', storage: memoryDriver() };
  let pulls = 0;
  const cut: Handler = async (request) => {
    const isCut = request.url.endsWith('/pull') && ++pulls > 2;
    return isCut ? new Response(null, { status: 401 }) : handler(request);
  };
  const first = new Device(remoteOf(cut), {}, database);
  await expect(first.settled()).rejects.toMatchObject({ code: 'remote_unauthorized' });
  const half = Object.keys(await first.all()).length;
  expect(half).toBeGreaterThan(0);
  expect(half).toBeLessThan(LARGE);
  await first.close();
  const types: string[] = [];
  const second = new Device(remoteOf(handler, types), {}, database);
  await second.settled();
  expect(types).not.toContain(PACKED);
  expect(Object.keys(await second.all())).toHaveLength(LARGE);
});

test.for(badLines)('nothing is taken of a page with %s', async ([, lines]) => {
  const store = memory();
  await push(store, made(5));
  const handler = handlerOf(store);
  const types: string[] = [];
  const remote = remoteOf(async (request) => {
    const response = await handler(request);
    if (response.headers.get('content-type') !== PACKED) return response;
    const first = (await response.text()).split('\n')[0];
    const body = Buffer.concat([Buffer.from(`${first}\n`), gzipSync(lines, { level: 1 })]);
    return new Response(body, { headers: response.headers });
  }, types);
  const device = new Device(remote);
  await device.settled();
  expect(types.slice(0, 2)).toEqual([PACKED, 'application/json']);
  expect(Object.keys(await device.all())).toEqual(['o0', 'o1', 'o2', 'o3', 'o4']);
});

test('a page with a document twice has its later state', async () => {
  const store = memory();
  await push(store, made(2));
  const handler = handlerOf(store);
  const lines = linesOf(
    { ...good, id: 'o1' },
    { ...good, id: 'o1', version: '2', fields: { count: 2 } },
  );
  const remote = remoteOf(async (request) => {
    const response = await handler(request);
    const first = (await response.text()).split('\n')[0];
    const body = Buffer.concat([Buffer.from(`${first}\n`), gzipSync(lines)]);
    return new Response(body, { headers: response.headers });
  });
  const device = new Device(remote);
  await device.settled();
  expect(await device.all()).toMatchObject({ o1: { count: 2 } });
});

test('a schema sees what came by packed pages', async () => {
  const store = memory();
  await push(
    store,
    made(300, (count) => ({ count: count === 7 ? 'seven' : count })),
  );
  const types: string[] = [];
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: { count: unknown }) =>
        typeof value.count === 'number' ? { value } : { issues: [{ message: 'no number' }] },
    },
  };
  const device = new Device(remoteOf(handlerOf(store), types), {}, undefined, { schema });
  const invalid: string[] = [];
  device.sync.on('invalid', ({ id }) => void invalid.push(id));
  await device.settled();
  expect(types[0]).toBe(PACKED);
  expect(invalid).toEqual(['o7']);
  expect(Object.keys(await device.all())).toHaveLength(300);
});

test('keys and values come by packed pages', async () => {
  const store = memory();
  await push(
    store,
    made(300, (nth) => ({ value: nth % 2 ? nth : { $date: nth } })),
  );
  const remote = remoteOf(handlerOf(store));
  const counted = countUnpacked(remote);
  const db = new Database({ name: 'pulled values', storage: 'memory' });
  const values = new db.Collection({ name: 'orders', type: 'KEY_VALUE_BASED' });
  const sync = replicate(values, { remote });
  await sync.settled();
  expect(await values.get('o7')).toBe(7);
  expect(await values.get('o8')).toEqual(new Date(8));
  expect(counted.unpacked).toBe(0);
  await sync.stop();
  await db.close();
});
