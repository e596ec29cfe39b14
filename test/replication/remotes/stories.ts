import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Remote } from '../../../src/replication/index.ts';
import { Device } from './device.ts';
import { Network } from './network.ts';

/** A server that the stories run against. */
export interface StoryServer {
  /** A remote that reaches it by a network. */
  connect(network: (server: ServerFetch) => Network): { remote: Remote; network: Network };
  /** The documents as another program sees them, by id. */
  documents(): Promise<object[]>;
  /** Begins with another, empty set of data at the same place. */
  recreate(): Promise<void>;
  /** Stops and starts again, with the same data. */
  restart(): Promise<void>;
}

type ServerFetch = ConstructorParameters<typeof Network>[0];

/** What two devices and any server must do together. */
export function stories(open: () => Promise<StoryServer>): void {
  let server: StoryServer;
  const devices: Device[] = [];

  function device(options: object = {}): Device & { network: Network } {
    const { remote, network } = server.connect((fetch) => new Network(fetch));
    const made = Object.assign(new Device(remote, options), { network });
    devices.push(made);
    return made;
  }

  /** Until nobody has anything new for the others. */
  async function settle(...all: Device[]): Promise<void> {
    for (const each of [...all, ...all]) await each.settled();
  }

  async function expectEqual(...all: Device[]): Promise<void> {
    const onServer = await server.documents();
    for (const each of all) expect(await each.content()).toEqual(onServer);
  }

  beforeEach(async () => {
    server = await open();
  });
  afterEach(async () => {
    for (const each of devices.splice(0)) await each.close();
  });

  test('both sides edit, offline and at once', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insertMany([
      { _id: 'o', item: 'lamp', count: 1 },
      { _id: 'p', item: 'book' },
    ]);
    await settle(a, b);
    for (const { sync } of [a, b]) sync.pause();
    await a.orders.patch('o', { count: 2 });
    await b.orders.patch('o', { note: 'urgent' });
    await b.orders.insert({ _id: 'q', item: 'pen', at: new Date(0) });
    for (const { sync } of [a, b]) sync.resume();
    await settle(a, b);
    expect(await a.orders.get('o')).toMatchObject({ item: 'lamp', count: 2, note: 'urgent' });
    expect(await a.orders.get('q')).toMatchObject({ at: new Date(0) });
    expect(await a.content()).toEqual(await b.content());
    expect([...a.sync.conflicts(), ...b.sync.conflicts()]).toEqual([]);
    expect(await a.sync.rejected()).toEqual([]);
  });

  test('both sides change the same field', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', count: 1 });
    await settle(a, b);
    for (const { sync } of [a, b]) sync.pause();
    await a.orders.patch('o', { count: 2 });
    await b.orders.patch('o', { count: 3 });
    a.sync.resume();
    await a.settled();
    b.sync.resume();
    await settle(b, a);
    expect(await a.orders.get('o')).toMatchObject({ count: 2 });
    await expectEqual(a, b);
    expect(b.sync.conflicts()).toMatchObject([
      { id: 'o', base: { count: 1 }, local: { count: 3 }, remote: { count: 2 } },
    ]);
  });

  test('both sides insert the same document', async () => {
    const [a, b] = [device(), device()];
    for (const { sync } of [a, b]) sync.pause();
    await a.orders.insert({ _id: 'o', item: 'lamp' });
    await b.orders.insert({ _id: 'o', note: 'urgent' });
    for (const { sync } of [a, b]) sync.resume();
    await settle(a, b);
    expect(await a.orders.get('o')).toMatchObject({ item: 'lamp', note: 'urgent' });
    await expectEqual(a, b);
  });

  test('a document is deleted, inserted anew, and deleted on both sides', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', count: 1 });
    await settle(a, b);
    await b.orders.delete('o');
    await settle(b, a);
    expect(await a.content()).toEqual([]);
    await a.orders.insert({ _id: 'o', count: 2 });
    await settle(a, b);
    expect(await b.orders.get('o')).toMatchObject({ count: 2 });
    for (const { sync } of [a, b]) sync.pause();
    for (const { orders } of [a, b]) await orders.delete('o');
    for (const { sync } of [a, b]) sync.resume();
    await settle(a, b);
    await expectEqual(a, b);
    expect(await server.documents()).toEqual([]);
  });

  test('an edit beats a deletion', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', count: 1 });
    await settle(a, b);
    for (const { sync } of [a, b]) sync.pause();
    await a.orders.delete('o');
    await b.orders.patch('o', { count: 2 });
    a.sync.resume();
    await a.settled();
    b.sync.resume();
    await settle(b, a);
    expect(await a.orders.get('o')).toMatchObject({ count: 2 });
    await expectEqual(a, b);
  });

  test('offline, then back', async () => {
    const [a, b] = [device(), device()];
    await settle(a, b);
    a.network.isOffline = true;
    const offline = a.reaches('offline');
    await a.orders.insert({ _id: 'o', count: 1 });
    await offline;
    expect(a.sync.status).toMatchObject({ pending: 1, error: { code: 'remote_offline' } });
    expect(await server.documents()).toEqual([]);
    a.network.isOffline = false;
    a.sync.resume();
    await settle(a, b);
    expect(await b.orders.get('o')).toMatchObject({ count: 1 });
    expect(a.sync.status).toMatchObject({ state: 'idle', pending: 0, error: undefined });
  });

  test('the answer to a push is lost', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', count: 1 });
    await settle(a, b);
    a.network.loses = (url) => /push|_bulk_docs/.test(url);
    const offline = a.reaches('offline');
    await a.orders.patch('o', { count: 2 });
    await offline;
    await a.orders.patch('o', { count: 3 });
    a.network.loses = () => false;
    a.network.isOffline = false;
    a.sync.resume();
    await settle(a, b);
    expect(await b.orders.get('o')).toMatchObject({ count: 3 });
    expect(a.sync.conflicts()).toEqual([]);
    await expectEqual(a, b);
  });

  test('the answer to a push is lost where nothing is pulled', async () => {
    const a = device({ direction: 'push' });
    await a.orders.insert({ _id: 'o', count: 1 });
    await a.settled();
    a.network.loses = (url) => /push|_bulk_docs/.test(url);
    const offline = a.reaches('offline');
    await a.orders.patch('o', { count: 2 });
    await offline;
    a.network.loses = () => false;
    a.network.isOffline = false;
    a.sync.resume();
    await a.settled();
    expect(a.sync.conflicts()).toEqual([]);
    expect(await server.documents()).toMatchObject([{ count: 2 }]);
  });

  test('a change rings the others', async () => {
    const [a, b] = [device(), device()];
    await settle(a, b);
    const pulled = new Promise<void>((resolve) => b.sync.on('pulled', () => resolve()));
    await a.orders.insert({ _id: 'o', count: 1 });
    await pulled;
    expect(await b.orders.get('o')).toMatchObject({ count: 1 });
  });

  test('the server restarts', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insert({ _id: 'o', count: 1 });
    await settle(a, b);
    await server.restart();
    await a.orders.patch('o', { count: 2 });
    for (const { sync } of [a, b]) sync.resume();
    await settle(a, b);
    expect(await b.orders.get('o')).toMatchObject({ count: 2 });
    await expectEqual(a, b);
  });

  test('the data are created anew: what was clean goes, what was changed stays', async () => {
    const [a, b] = [device(), device()];
    await a.orders.insertMany([
      { _id: 'clean', count: 1 },
      { _id: 'dirty', count: 1 },
    ]);
    await settle(a, b);
    for (const each of [a, b]) {
      each.network.isOffline = true;
      each.sync.resume();
      await each.reaches('offline');
    }
    await server.recreate();
    await a.orders.patch('dirty', { count: 2 });
    for (const each of [a, b]) {
      each.network.isOffline = false;
      each.sync.resume();
    }
    await settle(a, b);
    expect((await server.documents()) as object[]).toMatchObject([{ _id: 'dirty', count: 2 }]);
    await expectEqual(a, b);
  });

  test('many documents come page by page', async () => {
    const [a, b] = [device(), device({ direction: 'pull' })];
    const many = Array.from({ length: 1201 }, (_, count) => ({ _id: `d${count}`, count }));
    await a.orders.insertMany(many);
    await settle(a, b);
    expect(await b.orders.count()).toBe(1201);
    await expectEqual(a, b);
  });
}
