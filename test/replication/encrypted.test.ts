import { afterEach, expect, test } from 'vitest';
import type { Remote } from '../../src/replication/index.ts';
import { type HttpOptions, http } from '../../src/replication/index.ts';
import { flakyRemote } from '../../src/replication/testing/flaky-remote.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { Random } from '../setup/random.ts';
import { closeDevices, Device } from './device.ts';

afterEach(closeDevices);

const OTHER_KEY = new Uint8Array(32).fill(8);
const KEY = new Uint8Array(32).fill(7);

type Json = Record<string, any>;

/** A server that may do with answers what it wants; keeps all that it was sent. */
class Host {
  readonly store = memory();
  readonly bodies: string[] = [];
  /** Changes the JSON of an answer. */
  lie: (answer: Json, url: string) => void = () => undefined;
  readonly #handler = createHandler({
    ...{ store: this.store, authorize: () => true, hold: 20 },
    scopes: { technician: (name) => ({ technician: name as string }) },
  });

  remote(encrypt: HttpOptions['encrypt'] = { key: KEY }, name = 'orders'): Remote<string> {
    return http({
      url: `https://example.com/${name}`,
      ...(encrypt && { encrypt }),
      fetch: async (url, init) => {
        this.bodies.push(url, JSON.stringify(init.headers), String(init.body));
        const response = await this.#handler(new Request(url, init));
        if (!/json/.test(response.headers.get('content-type') ?? '')) return response;
        const answer = (await response.json()) as Json;
        this.lie(answer, url);
        this.bodies.push(JSON.stringify(answer));
        return Response.json(answer, { status: response.status });
      },
    });
  }

  device(encrypt?: HttpOptions['encrypt'], options: object = {}): Device {
    return new Device(this.remote(encrypt), { ...options, live: false });
  }

  async stored(name = 'orders'): Promise<Json[]> {
    const { changes } = await this.store.pull(name, undefined, 1000);
    return changes as never;
  }

  /** Changes documents of pulls. */
  forge(change: (row: Json) => void): void {
    this.lie = ({ changes }) => {
      for (const row of changes ?? []) change(row);
    };
  }
}

const failureOf = (device: Device): Promise<Json> =>
  device.settled().then(
    () => ({}),
    (error: Json) => error,
  );

async function seeded(): Promise<{ host: Host; a: Device; b: Device }> {
  const host = new Host();
  const [a, b] = [host.device(), host.device()];
  await a.orders.insert({ _id: 'o', item: 'first' });
  await a.orders.insert({ _id: 'p', item: 'other' });
  await a.settled();
  await b.settled();
  return { host, a, b };
}

test('the server gets and keeps nothing that it could read', async () => {
  const host = new Host();
  const [a, b] = [host.device(), host.device()];
  const note = 'top secret';
  await a.orders.insert({ _id: 'o', item: note, count: 424_242, at: new Date(777_777_777_777) });
  await a.settled();
  await b.settled();
  expect(await b.orders.get('o')).toMatchObject({
    ...{ item: note, count: 424_242, at: new Date(777_777_777_777) },
  });
  await b.orders.patch('o', { $inc: { count: 515_151 }, $set: { note: 'secret note' } } as never);
  await b.settled();
  await a.settled();
  expect(await a.orders.get('o')).toMatchObject({ count: 939_393, note: 'secret note' });
  await a.orders.archive('o');
  await a.settled();
  const bytes = [...host.bodies, JSON.stringify(await host.stored())].join('\n');
  const plain = [note, '424242', '515151', '777777777777', 'secret', 'item', 'note', 'archived'];
  expect(plain.filter((one) => bytes.includes(one))).toEqual([]);
  const [row] = await host.stored();
  expect(Object.keys(row?.document as object)).toEqual(['_id', '_sealed']);
});

test('values outside JSON, keys and values, and deletions travel too', async () => {
  const host = new Host();
  const [a, b] = [host.device(), host.device()];
  const rare = { big: 2n ** 70n, bytes: new Uint8Array([1, 2]), set: new Set([1]) };
  await a.orders.insert({ _id: 'o', rare } as never);
  await a.settled();
  await b.settled();
  expect(await b.orders.get('o')).toMatchObject({ rare });
  await b.orders.delete('o');
  await b.settled();
  await a.settled();
  expect(await a.orders.get('o')).toBeUndefined();
  await a.orders.insert({ _id: 'o', item: 'again' });
  await a.settled();
  await b.settled();
  expect(await b.orders.get('o')).toMatchObject({ item: 'again' });
});

test('a document that is made anew while a device is away is no older state', async () => {
  const { a, b } = await seeded();
  for (const item of ['second', 'third']) {
    await a.orders.patch('o', { item });
    await a.settled();
  }
  await b.settled();
  await a.orders.delete('o');
  await a.settled();
  await a.orders.insert({ _id: 'o', item: 'anew' });
  await a.settled();
  await b.settled();
  expect(await b.orders.get('o')).toMatchObject({ item: 'anew' });
});

test('conflicts merge on devices, by plain values', async () => {
  const { a, b } = await seeded();
  await a.orders.patch('o', { count: 1 });
  await b.orders.patch('o', { note: 'b' });
  await a.settled();
  await b.settled();
  await a.settled();
  for (const device of [a, b])
    expect(await device.orders.get('o')).toMatchObject({ item: 'first', count: 1, note: 'b' });
  await a.orders.patch('o', { $inc: { count: 2 } });
  await b.orders.patch('o', { $inc: { count: 3 } });
  await a.settled();
  await b.settled();
  await a.settled();
  for (const device of [a, b]) expect(await device.orders.get('o')).toMatchObject({ count: 6 });
});

test('readable fields serve scopes, and the device notices where they were changed', async () => {
  const host = new Host();
  const encrypt = { key: KEY, clear: ['technician', 'none'] };
  const [a, b] = [host.device(encrypt), host.device(encrypt, { scopes: [{ technician: 'ada' }] })];
  for (const technician of ['ada', 'bo'])
    await a.orders.insert({ _id: technician, item: 'secret', technician } as never);
  await a.settled();
  await b.settled();
  expect(Object.keys(await b.all())).toEqual(['ada']);
  expect(JSON.stringify(await host.stored())).not.toContain('secret');
  await a.orders.patch('bo', { technician: 'ada' } as never);
  await a.settled();
  await b.settled();
  expect(Object.keys(await b.all())).toEqual(['ada', 'bo']);
  host.forge(({ document }) => document && Object.assign(document, { technician: 'eve' }));
  expect(await failureOf(host.device(encrypt))).toMatchObject({ code: 'seal_broken' });
});

test('a rotated key seals, and older ones open', async () => {
  const { host, b } = await seeded();
  const rotated = host.device({ key: [OTHER_KEY, KEY] });
  await rotated.settled();
  expect(await rotated.orders.get('o')).toMatchObject({ item: 'first' });
  await rotated.orders.patch('o', { item: 'new key' });
  await rotated.settled();
  const error = await failureOf(b);
  expect(error).toMatchObject({ name: 'ReplicationError', code: 'key_unknown', place: 'o' });
  expect(await b.orders.get('o')).toMatchObject({ item: 'first' });
  const late = host.device({ key: [KEY, OTHER_KEY] });
  await late.settled();
  expect(await late.orders.get('o')).toMatchObject({ item: 'new key' });
});

test('a device without the key gets nothing, and loses nothing', async () => {
  const { host } = await seeded();
  const stranger = host.device({ key: OTHER_KEY });
  await stranger.orders.insert({ _id: 'mine', item: 'local' });
  expect(await failureOf(stranger)).toMatchObject({ code: 'key_unknown' });
  expect(Object.keys(await stranger.all())).toEqual(['mine']);
  expect(stranger.sync.status.pending).toBe(1);
  expect((await host.stored()).length).toBe(2);
});

test('a device that has encrypted sends nothing without', async () => {
  const { host, a } = await seeded();
  await a.sync.stop();
  const { replicate } = await import('../../src/replication/index.ts');
  const plain = replicate(a.orders, { remote: host.remote(null as never) });
  await expect(plain.settled()).rejects.toMatchObject({ code: 'remote_mismatch' });
});

const cut = (document: Json, end: number) => {
  document._sealed = document._sealed.slice(0, end);
};

test.each<[string, (rows: Json[]) => void]>([
  ['cuts them', ([row]) => cut(row?.document, -8)],
  ['cuts all of them', ([row]) => cut(row?.document, 40)],
  ['changes a byte', ([row]) => cut(row?.document, -5)],
  ['sends plain ones', ([row]) => row && Object.assign(row.document, { _sealed: undefined })],
  ['sends others', ([row]) => row && Object.assign(row.document, { _sealed: { $date: 1 } })],
  [
    'swaps them',
    ([row, other]) => row && Object.assign(row.document, { _sealed: other?.document._sealed }),
  ],
  [
    'numbers them anew',
    ([row]) => {
      const parts = row?.document._sealed.split('.');
      parts[3] = '9';
      Object.assign(row?.document, { _sealed: parts.join('.') });
    },
  ],
  ['adds fields', ([row]) => row && Object.assign(row.document, { item: 'forged' })],
])('a server that %s is noticed, and nothing is applied', async (_, change) => {
  const { host, b } = await seeded();
  host.lie = ({ changes }) => changes?.length > 0 && change(changes);
  const device = host.device();
  await device.orders.insert({ _id: 'mine', item: 'local' });
  expect(await failureOf(device)).toMatchObject({
    ...{ name: 'ReplicationError', code: 'seal_broken', place: 'o' },
  });
  expect(Object.keys(await device.all())).toEqual(['mine']);
  host.lie = () => undefined;
  device.sync.resume();
  await device.settled();
  expect(Object.keys(await device.all()).sort()).toEqual(['mine', 'o', 'p']);
  await b.settled();
  expect(await b.orders.get('mine')).toMatchObject({ item: 'local' });
});

test('a document of another collection does not open', async () => {
  const { host } = await seeded();
  const [row] = await host.stored();
  const other = new Device(host.remote(undefined, 'others'), { live: false });
  host.lie = (answer) => {
    if (answer.changes) answer.changes = [row];
  };
  // Keys are derived for each collection.
  expect(await failureOf(other)).toMatchObject({ code: 'key_unknown' });
});

test('an older state that comes again is noticed', async () => {
  const { host, a, b } = await seeded();
  const [old] = (await host.stored()).filter(({ id }) => id === 'o');
  await a.orders.patch('o', { item: 'second' });
  await a.settled();
  await b.settled();
  await a.orders.patch('p', { item: 'ring' });
  await a.settled();
  host.lie = ({ changes }) => changes?.push({ ...old, version: '99' });
  expect(await failureOf(b)).toMatchObject({ code: 'seal_replayed' });
  expect(await b.orders.get('o')).toMatchObject({ item: 'second' });
  // As a conflict, too.
  host.lie = ({ results }) => {
    if (results) results[0] = { conflict: { ...old, version: '99' } };
  };
  await b.orders.patch('o', { note: 'mine' });
  expect(await failureOf(b)).toMatchObject({ code: 'seal_replayed' });
  expect(await b.orders.get('o')).toMatchObject({ item: 'second', note: 'mine' });
  host.lie = () => undefined;
  b.sync.resume();
  await b.settled();
  await a.settled();
  expect(await a.orders.get('o')).toMatchObject({ item: 'second', note: 'mine' });
});

test('an answer that is lost leaves one document, and no conflict', async () => {
  const { host, a, b } = await seeded();
  const conflicts: unknown[] = [];
  b.sync.on('conflict', (one) => conflicts.push(one));
  let isLost = true;
  let changing: Promise<unknown> | undefined;
  host.lie = ({ results }) => {
    if (!results || !isLost) return;
    isLost = false;
    changing = b.orders.patch('new', { count: 1 });
    throw new TypeError('lost');
  };
  await b.orders.insert({ _id: 'new', item: 'new' });
  await b.settled();
  await changing;
  await b.settled();
  await a.settled();
  expect(await a.orders.get('new')).toMatchObject({ item: 'new', count: 1 });
  expect(conflicts).toEqual([]);
});

test('documents that cannot travel are rejected alone', async () => {
  const host = new Host();
  const a = host.device();
  await a.orders.insert({ _id: 'blob', file: new Blob(['x']) } as never);
  await a.orders.insert({ _id: 'o', item: 'x' });
  await a.settled();
  expect(await a.sync.rejected()).toMatchObject([{ id: 'blob' }]);
  expect((await host.stored()).map(({ id }) => id)).toEqual(['o']);
});

test('bad options are errors; the bytes of the key are copied', async () => {
  const host = new Host();
  const bad = [
    {},
    { key: 'password' },
    { key: new Uint8Array(16) },
    { key: [] },
    { key: KEY, x: 1 },
  ];
  for (const encrypt of [...bad, { key: KEY, clear: ['_id'] }, { key: KEY, clear: 'a' }])
    expect(() => host.remote(encrypt as never)).toThrow(/"?encrypt"?/);
  const key = KEY.slice();
  const a = host.device({ key });
  key.fill(0);
  await a.orders.insert({ _id: 'o', item: 'x' });
  await a.settled();
  const base = await crypto.subtle.importKey('raw', KEY, 'HKDF', false, [
    'deriveKey',
    'deriveBits',
  ]);
  const b = host.device({ key: base });
  await b.settled();
  expect(await b.orders.get('o')).toMatchObject({ item: 'x' });
});

test('devices behind a network that fails become equal, and the server reads nothing', async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const host = new Host();
    const random = new Random(seed);
    const networks = [0, 1].map((at) =>
      flakyRemote(host.remote(), { seed: seed * 10 + at, faults: 0.2 }),
    );
    const devices = networks.map((network) => new Device(network));
    let added = 0;
    for (let step = 0; step < 16; step++) {
      const { orders } = random.pick(devices) as Device;
      const id = random.pick(['a', 'b', 'c']) as string;
      if (random.chance(0.15)) await orders.delete(id);
      else if (await orders.get(id)) await orders.patch(id, { note: `plain ${step}` });
      else await orders.insert({ _id: id, item: `plain ${step}` });
      await devices[0]?.orders.upsert({ _id: `sum ${step}`, count: 1 });
      added++;
      if (random.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for (const network of networks) await network.heal();
    for (let round = 0; round < 2; round++)
      for (const device of devices) {
        device.sync.resume();
        await device.settled();
      }
    const [first, second] = await Promise.all(devices.map((device) => device.all()));
    expect(second, `seed ${seed}`).toEqual(first);
    const sums = Object.keys(first ?? {}).filter((id) => id.startsWith('sum'));
    expect(sums.length, `seed ${seed}`).toBe(added);
    expect([...host.bodies, JSON.stringify(await host.stored())].join()).not.toContain('plain');
    await closeDevices();
  }
});
