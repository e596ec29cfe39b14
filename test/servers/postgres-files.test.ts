import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { documentFiles, postgresFiles } from '../../src/server/files/index.ts';
import { createHandler, postgres } from '../../src/server/index.ts';
import { startCluster } from '../../tools/servers/cluster.mjs';
import { closeDevices, type Device } from '../replication/device.ts';
import { bytesOf, hashOf, MEGABYTE } from '../replication/office.ts';
import { ReplacedServer, SUCCESSORS } from './replaced-server.ts';

/** Queries after which the server is killed. */
const CRASHES = [25, 70, 140];

let server: ReplacedServer;

beforeAll(async () => {
  server = new ReplacedServer(await startCluster('fsync=off'), async (query, isNew) => {
    const [store, files] = [postgres(query), postgresFiles(query)];
    if (isNew) await Promise.all([store.setup(), files.setup()]);
    return createHandler({
      ...{ store, authorize: () => true, onError: () => undefined, hold: 20 },
      files: documentFiles({ store: files }),
    });
  });
  await server.use(undefined, true);
});
afterEach(async () => {
  server.isCut = false;
  await closeDevices();
});
afterAll(() => server.close());

const deviceOf = (collection: string) =>
  server.device(server.remote(collection), { files: 'lazy' });

const photoOf = async (device: Device, id: string) =>
  hashOf((await bytesOf(await device.sync.file(id, 'photo'))) as Uint8Array);

const idsOf = async (device: Device) => Object.keys(await device.all()).sort();

test('a server that is killed amid uploads and counts: each file is whole, each count exact', async () => {
  const devices = [deviceOf('killed'), deviceOf('killed')] as const;
  const [a] = devices;
  await a.orders.insert({ _id: 'counter', count: 0 });
  for (const device of devices) await device.settled();
  const end = server.killAfter(CRASHES);
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
  expect((await end()).queries).toBeGreaterThan(CRASHES.at(-1) as number);
  for (const device of [...devices, deviceOf('killed')]) {
    await device.settled();
    expect((await device.all()).counter?.count).toBe(40);
    for (const [id, hash] of photos) expect(await photoOf(device, id)).toBe(hash);
    expect(device.sync.conflicts()).toEqual([]);
    expect(await device.sync.rejected()).toEqual([]);
  }
}, 300_000);

test.each(SUCCESSORS)(
  '%s takes over: files that it lacks are sent again by who has them',
  async (which) => {
    await server.use();
    const [a, b] = [deviceOf(which), deviceOf(which)];
    const [early, late, later] = [
      randomBytes(100_000),
      randomBytes(2 * MEGABYTE),
      randomBytes(9000),
    ];
    await a.orders.insert({ _id: 'early', photo: new Blob([early]), count: 1 });
    for (const device of [a, b]) await device.settled();
    const next = await server.successor(which);

    // Lost with the server: a document with its file, and counts.
    await a.orders.insert({ _id: 'late', photo: new Blob([late]) });
    await a.orders.patch('early', { $inc: { count: 10 } });
    for (const device of [a, b]) await device.settled();
    expect((await b.all()).early?.count).toBe(11);

    server.isCut = true;
    // Names a file that the server has, and will have lost.
    await a.orders.insert({ _id: 'names', photo: (await a.orders.get('late')).photo });
    await b.orders.insert({ _id: 'new', photo: new Blob([later]) });
    await b.orders.patch('early', { $inc: { count: 100 } });
    await next();
    server.isCut = false;
    for (const device of [a, b, a, b]) {
      device.sync.resume();
      await device.settled();
    }
    const third = deviceOf(which);
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
