import { afterEach, expect, test } from 'vitest';
import { http, type Remote } from '../../src/replication/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { closeDevices, Device } from './device.ts';

afterEach(closeDevices);

const [KEY, OTHER_KEY] = [7, 8].map((byte) => new Uint8Array(32).fill(byte)) as [any, any];

/** A server that keeps what it was sent, and changes rows of its pulls. */
class Host {
  readonly store = memory();
  readonly bodies: string[] = [];
  lie: (row: any) => void = () => undefined;
  readonly #handler = createHandler({
    ...{ store: this.store, authorize: () => true, hold: 20 },
    scopes: { technician: (name) => ({ technician: name as string }) },
  });

  remote(encrypt: object = {}, name = 'orders'): Remote<string> {
    return http({
      url: `https://example.com/${name}`,
      encrypt: { key: KEY, ids: KEY, clear: ['technician'], ...encrypt },
      fetch: async (url, init) => {
        const response = await this.#handler(new Request(url, init));
        const text = await response.text();
        this.bodies.push(url, String(init.body), text);
        if (!text.startsWith('{')) return new Response(text, response);
        const answer = JSON.parse(text);
        for (const row of answer.changes ?? []) this.lie(row);
        return Response.json(answer, { status: response.status });
      },
    });
  }

  device(encrypt: object = {}, options: object = {}): Device & { orders: any } {
    return new Device(this.remote(encrypt), { ...options, live: false }) as never;
  }
}

const failureOf = (device: Device): Promise<any> =>
  device.settled().then(
    () => ({}),
    (error) => error,
  );

/** Whatever may be an id. */
const IDS = ['ada@example.com', '"', '\\', '\u0000', '\ud800', '漢字😀', ' ', 'a'.repeat(1000)];

test('the server reads no id, and devices have them all', async () => {
  const host = new Host();
  const [a, b] = [host.device(), host.device()];
  for (const _id of IDS) await a.orders.insert({ _id, item: _id });
  await a.settled();
  await b.settled();
  expect(Object.keys(await b.all()).sort()).toEqual([...IDS].sort());
  for (const _id of IDS) expect(await b.orders.get(_id)).toMatchObject({ item: _id });
  await b.orders.delete('ada@example.com');
  await b.orders.patch('漢字😀', { note: 'b' });
  await b.settled();
  await a.settled();
  expect(await a.orders.get('ada@example.com')).toBeUndefined();
  expect(await a.orders.get('漢字😀')).toMatchObject({ note: 'b' });
  await a.orders.insert({ _id: 'ada@example.com', item: 'anew' });
  await a.settled();
  await b.settled();
  expect(await b.orders.get('ada@example.com')).toMatchObject({ item: 'anew' });
  const seen = host.bodies.join();
  expect(['ada@', '漢', '😀', 'aaaaaaaa'].filter((one) => seen.includes(one))).toEqual([]);
  const { changes } = await host.store.pull('orders', undefined, 1000);
  // Each has one name, and deletions have the same.
  expect(changes.length).toBe(IDS.length);
  for (const { id } of changes) expect(id).toMatch(/^[\w-]{23,}$/);
});

test('conflicts, refusals and scopes name ids as devices have them', async () => {
  const host = new Host();
  const [a, b] = [host.device(), host.device({}, { scopes: [{ technician: 'ada' }] })];
  await a.orders.insert({ _id: 'one', technician: 'ada', item: '1' });
  await a.orders.insert({ _id: 'two', technician: 'ben', item: '2' });
  await a.orders.insert({ _id: 'x'.repeat(1200), item: 'too long' });
  await a.settled();
  await b.settled();
  expect((await a.sync.rejected()).map(({ id }) => id)).toEqual(['x'.repeat(1200)]);
  expect(Object.keys(await b.all())).toEqual(['one']);
  await a.orders.patch('one', { item: 'a' });
  await b.orders.patch('one', { item: 'b', note: 'b' });
  await a.settled();
  await b.settled();
  expect(b.sync.conflicts()).toMatchObject([{ id: 'one', result: { item: 'a', note: 'b' } }]);
  await a.settled();
  await a.orders.patch('one', { technician: 'ben' });
  await a.settled();
  await b.settled();
  expect(Object.keys(await b.all())).toEqual([]);
});

test('pages go on behind the changes of the server, in no order of ids', async () => {
  const host = new Host();
  const [a, b] = [host.device(), host.device()];
  await a.orders.insertMany(
    Array.from({ length: 2500 }, (_, at) => ({ _id: `order ${at}`, count: at })),
  );
  await a.settled();
  await b.settled();
  const all = await b.all();
  expect(Object.keys(all).length).toBe(2500);
  for (const at of [0, 999, 1000, 2499]) expect(all[`order ${at}`]?.count).toBe(at);
});

test('keys rotate, and ids stay', async () => {
  const host = new Host();
  const a = host.device();
  await a.orders.insert({ _id: 'o', item: 'first' });
  await a.settled();
  const rotated = host.device({ key: [OTHER_KEY, KEY] });
  await rotated.settled();
  await rotated.orders.patch('o', { item: 'second' });
  await rotated.settled();
  const late = host.device({ key: OTHER_KEY });
  await late.settled();
  expect(await late.all()).toMatchObject({ o: { item: 'second' } });
  expect((await host.store.pull('orders', undefined, 10)).changes.length).toBe(1);
});

test.each<[string, (row: any) => void]>([
  ['changed', (row) => Object.assign(row, { id: `${row.id.slice(0, -1)}A` })],
  ['cut', (row) => Object.assign(row, { id: row.id.slice(0, 10) })],
  ['no ciphertext', (row) => Object.assign(row, { id: 'o' })],
  ['of another form', (row) => Object.assign(row, { id: `${row.id}=` })],
])('an id that is %s is noticed', async (_, change) => {
  const host = new Host();
  const a = host.device();
  await a.orders.insert({ _id: 'o', item: 'x' });
  await a.settled();
  host.lie = (row) => {
    change(row);
    row.document._id = row.id;
  };
  const b = host.device();
  await b.orders.insert({ _id: 'mine', item: 'local' });
  expect(await failureOf(b)).toMatchObject({ name: 'ReplicationError', code: 'seal_broken' });
  expect(Object.keys(await b.all())).toEqual(['mine']);
  host.lie = () => undefined;
  b.sync.resume();
  await b.settled();
  expect(Object.keys(await b.all()).sort()).toEqual(['mine', 'o']);
});

test('a document that was made without the key stops devices until it is deleted', async () => {
  const host = new Host();
  const a = host.device();
  await a.orders.insert({ _id: 'o', item: 'x' });
  await a.settled();
  await host.store.push('orders', [{ id: 'plain', key: 'x.1', document: { _id: 'plain' } }]);
  expect(await failureOf(a)).toMatchObject({ code: 'seal_broken' });
  const [{ version: base } = {}] = await host.store.read('orders', ['plain']);
  await host.store.push('orders', [{ id: 'plain', base, key: 'x.2' }]);
  a.sync.resume();
  await a.orders.insert({ _id: 'p', item: 'y' });
  await a.settled();
  const b = host.device();
  await b.settled();
  expect(Object.keys(await b.all()).sort()).toEqual(['o', 'p']);
});

test('two documents cannot change their ids, and other keys open none', async () => {
  const host = new Host();
  const a = host.device();
  for (const _id of ['one', 'two']) await a.orders.insert({ _id, item: _id });
  await a.settled();
  const ids = (await host.store.pull('orders', undefined, 10)).changes.map(({ id }) => id);
  host.lie = (row) => {
    row.id = ids[1 - ids.indexOf(row.id)];
    row.document._id = row.id;
  };
  expect(await failureOf(host.device())).toMatchObject({ code: 'seal_broken' });
  host.lie = () => undefined;
  expect(await failureOf(host.device({ ids: OTHER_KEY }))).toMatchObject({ code: 'seal_broken' });
  expect(await failureOf(host.device({ ids: undefined }))).toMatchObject({ code: 'seal_broken' });
});

test('a device that has encrypted ids sends none without', async () => {
  const host = new Host();
  const a = host.device();
  await a.orders.insert({ _id: 'o', item: 'x' });
  await a.settled();
  await a.sync.stop();
  const { replicate } = await import('../../src/replication/index.ts');
  const plain = replicate(a.orders, { remote: host.remote({ ids: undefined }) });
  await expect(plain.settled()).rejects.toMatchObject({ code: 'remote_mismatch' });
  for (const ids of ['encrypted', new Uint8Array(31), null])
    expect(() => host.remote({ ids })).toThrow(/encrypt/);
});
