import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { http } from '../../src/replication/index.ts';
import { documentFiles, postgresFiles } from '../../src/server/files/index.ts';
import { createHandler, type Handler, postgres, type Query } from '../../src/server/index.ts';
import { type Cluster, startCluster } from '../../tools/servers/cluster.mjs';
import { closeDevices, Device } from '../replication/device.ts';
import { bytesOf, hashOf, MEGABYTE } from '../replication/office.ts';
import { connectionsTo, cutStandby } from './connections.ts';

/** Queries after which the server is killed. */
const CRASHES = [25, 70, 140];

let cluster: Cluster;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  cluster = await startCluster('fsync=off');
});
afterEach(async () => {
  shop.around = (run) => run();
  shop.isCut = false;
  await closeDevices();
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await cluster.remove();
});

/** Documents and files in one PostgreSQL, which another may follow. */
class Shop {
  /** Runs before a query arrives, and with its result. */
  around: (run: () => Promise<any>) => Promise<any> = (run) => run();
  isCut = false;
  #handler!: Handler;

  async use({ folder }: Cluster, isNew = false): Promise<void> {
    const pool = connectionsTo(folder, 'public');
    closing.push(() => pool.end());
    const query: Query = (text, values) => this.around(() => pool.query(text, values));
    const [store, files] = [postgres(query), postgresFiles(query)];
    if (isNew) await Promise.all([store.setup(), files.setup()]);
    this.#handler = createHandler({
      ...{ store, authorize: () => true, onError: () => undefined, hold: 20 },
      files: documentFiles({ store: files }),
    });
  }

  device(collection: string) {
    const remote = http({
      url: `https://example.com/${collection}`,
      fetch: (async (url: string, init: RequestInit) => {
        if (this.isCut) throw new TypeError('no connection');
        return this.#handler(new Request(url, init));
      }) as never,
    });
    const device = new Device(remote, { files: 'lazy' }) as Device & { orders: any };
    // Without a delay that no test can wait for.
    device.sync.on('status', ({ state }) => {
      if (state === 'offline' && !this.isCut) setTimeout(() => device.sync.resume(), 20);
    });
    return device;
  }
}

const photoOf = async (device: Device, id: string) =>
  hashOf((await bytesOf(await device.sync.file(id, 'photo'))) as Uint8Array);

const idsOf = async (device: Device) => Object.keys(await device.all()).sort();

let shop: Shop;
beforeAll(async () => {
  shop = new Shop();
  await shop.use(cluster, true);
});

test('a server that is killed amid uploads and counts: each file is whole, each count exact', async () => {
  const devices = [shop.device('killed'), shop.device('killed')] as const;
  const [a] = devices;
  await a.orders.insert({ _id: 'counter', count: 0 });
  for (const device of devices) await device.settled();
  let queries = 0;
  let up: Promise<void> = Promise.resolve();
  shop.around = async (run) => {
    await up;
    const result = run();
    if (CRASHES.includes(++queries)) up = cluster.crash().then(() => cluster.start());
    else if (queries % 23 === 0) await result.then(() => Promise.reject(new Error('lost')));
    return result;
  };
  const photos = new Map<string, string>();
  for (let round = 0; round < 4; round++) {
    for (const [number, { orders }] of devices.entries()) {
      const photo = randomBytes(2.5 * MEGABYTE);
      const id = `${number} ${round}`;
      photos.set(id, hashOf(photo));
      await orders.insert({ _id: id, photo: new Blob([photo]) });
      for (let count = 0; count < 5; count++) await orders.patch('counter', { $inc: { count: 1 } });
    }
    await Promise.all(devices.map((device) => device.settled()));
  }
  await up;
  expect(queries).toBeGreaterThan(CRASHES.at(-1) as number);
  shop.around = (run) => run();
  for (const device of [...devices, shop.device('killed')]) {
    await device.settled();
    expect((await device.all()).counter?.count).toBe(40);
    for (const [id, hash] of photos) expect(await photoOf(device, id)).toBe(hash);
    expect(device.sync.conflicts()).toEqual([]);
    expect(await device.sync.rejected()).toEqual([]);
  }
}, 300_000);

test.each(['an older copy', 'a standby without the newest changes'] as const)(
  '%s takes over: files that it lacks are sent again by who has them',
  async (which) => {
    await shop.use(cluster);
    const [a, b] = [shop.device(which), shop.device(which)];
    const [early, late, later] = [
      randomBytes(100_000),
      randomBytes(2 * MEGABYTE),
      randomBytes(9000),
    ];
    await a.orders.insert({ _id: 'early', photo: new Blob([early]), count: 1 });
    for (const device of [a, b]) await device.settled();
    const next = await (which === 'an older copy' ? copied() : standby());

    // Lost with the server: a document with its file, and counts.
    await a.orders.insert({ _id: 'late', photo: new Blob([late]) });
    await a.orders.patch('early', { $inc: { count: 10 } });
    for (const device of [a, b]) await device.settled();
    expect((await b.all()).early?.count).toBe(11);

    shop.isCut = true;
    // Names a file that the server has, and will have lost.
    await a.orders.insert({ _id: 'names', photo: (await a.orders.get('late')).photo });
    await b.orders.insert({ _id: 'new', photo: new Blob([later]) });
    await b.orders.patch('early', { $inc: { count: 100 } });
    await next();
    shop.isCut = false;
    for (const device of [a, b, a, b]) {
      device.sync.resume();
      await device.settled();
    }
    const third = shop.device(which);
    await third.settled();
    for (const device of [a, b, third]) {
      expect(await idsOf(device)).toEqual(['early', 'names', 'new']);
      expect(await photoOf(device, 'early')).toBe(hashOf(early));
      expect(await photoOf(device, 'names')).toBe(hashOf(late));
      expect(await photoOf(device, 'new')).toBe(hashOf(later));
      expect(await device.sync.rejected()).toEqual([]);
    }
    const counts = await Promise.all([a, b, third].map(async (one) => (await one.all()).early));
    expect(counts.map((one) => one?.count)).toEqual([101, 101, 101]);
  },
  300_000,
);

/** The files as they are now, for a server of their own. */
async function copied(): Promise<() => Promise<void>> {
  await cluster.stop();
  const copy = await cluster.copy();
  closing.push(() => copy.remove());
  await cluster.start();
  return () => shop.use(copy);
}

/** A standby that lacks what is committed from now on. */
async function standby(): Promise<() => Promise<void>> {
  const other = await cluster.standby();
  closing.push(() => other.remove());
  await cutStandby(other);
  return async () => {
    other.run('psql', '-d', 'postgres', '-c', 'select pg_promote()');
    await shop.use(other);
  };
}
