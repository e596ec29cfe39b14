import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { couchdb, type RemoteFetch } from '../../../src/replication/index.ts';
import { Device } from '../remotes/device.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

describe('couchdb() and what its checkpoint belongs to', () => {
  const server = useCouchServer();
  const devices: Device[] = [];
  let database: CouchTestDatabase;

  beforeEach(async () => {
    database = await CouchTestDatabase.create(server());
  });
  afterEach(async () => {
    for (const each of devices.splice(0)) await each.close();
  });

  function device(options: object = {}): Device {
    const { headers } = server();
    const made = new Device(couchdb({ url: database.url, headers, ...options }));
    devices.push(made);
    return made;
  }

  const idsOf = async (each: Device) => (await each.orders.filter({})).map(({ _id }) => _id).sort();

  test.each([
    ['with other documents', ['x', 'y', 'z']],
    ['with the same document as the last one, and others', ['x', 'last', 'y', 'z']],
  ])('a database that was created anew at once %s', async (_, ids) => {
    const a = device();
    await database.write([{ _id: 'gone' }, { _id: 'last' }]);
    await a.settled();
    await a.orders.insert({ _id: 'mine', item: 'lamp' });
    await a.settled();
    await database.write([{ _id: 'last', _rev: (await database.get('last'))._rev, at: 1 }]);
    await a.settled();
    await database.recreate();
    // The same revisions, and more of them than the old database had.
    const [, first] = await database.write([{ _id: 'first' }, { _id: 'last' }]);
    await database.write([{ _id: 'last', _rev: first.rev, at: 1 }]);
    await database.write([...ids, 'p', 'q', 'r'].map((_id) => ({ _id, item: 'new' })));
    await a.settled();
    expect(await idsOf(a)).toEqual([...new Set(['first', 'last', ...ids, 'p', 'q', 'r'])].sort());
  });

  const selecting: RemoteFetch = (url, init) => server().fetch(url, init);

  /** A device that is closed and opened again, with another selector. */
  async function reopened(each: Device, selector?: object): Promise<Device> {
    await each.sync.stop();
    const made = new Device(
      couchdb({
        url: database.url,
        headers: server().headers,
        fetch: selecting,
        selector,
      } as never),
      {},
      each,
    );
    devices.push(made);
    await made.settled();
    return made;
  }

  test('another selector pulls what matches, and removes what does not', async () => {
    await database.write([
      { _id: 'a', owner: 'ada', open: true },
      { _id: 'b', owner: 'ada', open: false },
      { _id: 'c', owner: 'bob', open: true },
    ]);
    let one = device({ selector: { owner: 'ada', open: true }, fetch: selecting });
    await one.settled();
    expect(await idsOf(one)).toEqual(['a']);
    one = await reopened(one, { owner: 'ada' });
    expect(await idsOf(one)).toEqual(['a', 'b']);
    await one.orders.insert({ _id: 'mine' });
    await one.settled();
    // On the server.
    expect(await idsOf(one)).toEqual(['a', 'b']);
    one = await reopened(one);
    expect(await idsOf(one)).toEqual(['a', 'b', 'c', 'mine']);
    one = await reopened(one, { owner: 'bob' });
    expect(await idsOf(one)).toEqual(['c']);
    expect((await database.documents()).map(({ _id }) => _id)).toEqual(['a', 'b', 'c', 'mine']);
  });

  test('the same selector in another order goes on', async () => {
    await database.write([{ _id: 'a', owner: 'ada', open: true }]);
    const one = device({ selector: { owner: 'ada', open: true }, fetch: selecting });
    await one.settled();
    // Removed behind the client's back: only a pull of everything would miss it.
    const asked: string[] = [];
    const noting: RemoteFetch = (url, init) => {
      asked.push(url);
      return selecting(url, init);
    };
    await one.sync.stop();
    const again = new Device(
      couchdb({
        ...{ url: database.url, headers: server().headers, fetch: noting },
        selector: { open: true, owner: 'ada' },
      }),
      {},
      one,
    );
    devices.push(again);
    await again.settled();
    expect(asked.filter((url) => url.includes('since=0'))).toEqual([]);
  });
});
