import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { couchdb } from '../../../src/replication/index.ts';
import { Device } from '../remotes/device.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';
import { ask, row } from './fake-couch.ts';

describe('couchdb() beside another program, which keeps what it does not know', () => {
  const server = useCouchServer();
  const devices: Device[] = [];
  let database: CouchTestDatabase;
  let a: Device;

  beforeEach(async () => {
    database = await CouchTestDatabase.create(server());
    a = device();
  });
  afterEach(async () => {
    for (const each of devices.splice(0)) await each.close();
  });

  function device(): Device {
    const made = new Device(remote());
    devices.push(made);
    return made;
  }

  const remote = () => couchdb({ url: database.url, headers: server().headers });

  const files = [
    { name: 'b.txt', bytes: new Uint8Array([2]), rights: new Map([['role', 'admin']]) },
    { name: 'a.txt', bytes: new Uint8Array([1]), rights: new Map([['role', 'user']]) },
  ].map((file, index) => ({ ...file, at: new Date(index) }));
  const [b, first] = files;

  test.each<[string, (list: any[]) => unknown, unknown[]]>([
    ['sorts a list', (list) => list.sort((x, y) => (x.name < y.name ? -1 : 1)), [first, b]],
    ['takes from a list', (list) => list.shift(), [first]],
    ['adds to a list', (list) => list.unshift({ name: 'c' }), [{ name: 'c' }, b, first]],
    ['doubles an item', (list) => list.push(list[0]), [b, first, b]],
  ])('%s', async (_, change, list) => {
    await a.orders.insert({ _id: 'o', files } as object);
    await a.settled();
    const document = await database.get('o');
    change(document.files);
    await database.write([document]);
    await a.settled();
    expect(await a.orders.get('o')).toHaveProperty('files', list);
    await a.orders.patch('o', { count: 1 });
    await a.settled();
    const other = device();
    await other.settled();
    expect(await other.orders.get('o')).toMatchObject({ count: 1, files: list });
  });

  test('leaves out what stands for values elsewhere: an event tells', async () => {
    const told: object[] = [];
    a.sync.on('invalid', (event) => told.push(event));
    await a.orders.insert({ _id: 'o', files } as object);
    await a.settled();
    const { $cairn: _, ...document } = await database.get('o');
    await database.write([document, { _id: 'p', $cairn: { exact: { x: { $map: 1 } } } }]);
    await a.settled();
    const texts = document.files.map(({ rights }: { rights: string }) => rights);
    expect(await a.orders.get('o')).toMatchObject({
      files: texts.map((rights: string) => ({ rights })),
    });
    expect(told).toMatchObject([
      { id: 'o', error: { code: 'value_lost', message: expect.stringContaining(texts[0]) } },
    ]);
  });

  test('writes a document that no collection can hold: it is rejected, and the others come', async () => {
    const rejected: object[] = [];
    a.sync.on('rejected', (event) => rejected.push(event));
    const deep = JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`);
    await database.write([
      { _id: 'deep', deep },
      { _id: 'o', item: 'lamp' },
    ]);
    await a.settled();
    expect(await a.content()).toEqual([{ _id: 'o', item: 'lamp' }]);
    expect(rejected).toEqual([{ id: 'deep', reason: expect.stringContaining('levels') }]);
    await a.orders.insert({ _id: 'deep', item: 'mine' });
    await a.settled();
    expect(await a.sync.rejected()).toMatchObject([{ id: 'deep', document: { item: 'mine' } }]);
    expect(await database.get('deep')).toHaveProperty('deep');
  });

  test('copies a document over another one that was changed here', async () => {
    await a.orders.insertMany([
      { _id: 'o', item: 'lamp', count: 1 },
      { _id: 'p', item: 'book', count: 1 },
    ]);
    await a.settled();
    await a.orders.patch('p', { count: 7 });
    await a.settled();
    a.sync.pause();
    await a.orders.patch('o', { note: 'mine', count: 2 });
    const { _rev } = await database.get('o');
    await database.write([{ ...(await database.get('p')), _id: 'o', _rev }]);
    a.sync.resume();
    await a.settled();
    expect(await database.get('o')).toMatchObject({ item: 'book', count: 7, note: 'mine' });
    expect(a.sync.conflicts()).toMatchObject([
      { id: 'o', local: { count: 2 }, remote: { item: 'book', count: 7 } },
    ]);
  });

  test('makes the database again from changed documents', async () => {
    await a.orders.insert({ _id: 'o', item: 'lamp', count: 1 });
    await a.settled();
    a.sync.pause();
    await a.orders.patch('o', { note: 'mine', count: 2 });
    const { _rev, ...document } = await database.get('o');
    await database.recreate();
    await database.write([{ ...document, item: 'book', count: 7 }]);
    a.sync.resume();
    await a.settled();
    expect(await database.get('o')).toMatchObject({ item: 'book', count: 7, note: 'mine' });
    expect(a.sync.conflicts()).toMatchObject([{ local: { count: 2 }, remote: { count: 7 } }]);
  });

  describe('a push whose answer was lost is known', () => {
    const first = { ...row('o'), key: 'r.1' };

    async function pushed(): Promise<any> {
      await remote().push([first], ask);
      return database.get('o');
    }

    test('where others have changed the document, and left its key out', async () => {
      const { $cairn: _, ...document } = await pushed();
      const [{ rev }] = await database.write([{ ...document, item: 'book' }]);
      await database.write([{ ...document, _rev: rev, item: 'pen' }]);
      const [result] = await remote().push([first], ask);
      expect(result).toMatchObject({
        version: expect.stringMatching(/^3-/),
        document: { item: 'pen' },
      });
    });

    test('not by a copy of another document, nor by another push', async () => {
      await pushed();
      const [other] = await remote().push([{ ...first, key: 'r.9' }], ask);
      expect(other).toMatchObject({ conflict: { key: 'r.1' } });
    });
  });
});
