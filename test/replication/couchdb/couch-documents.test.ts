import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { couchdb } from '../../../src/replication/index.ts';
import { Device } from '../remotes/device.ts';
import { CouchTestDatabase, useCouchServer } from './couch-server.ts';

describe('couchdb() and the documents of other programs', () => {
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
    const made = new Device(couchdb({ url: database.url, headers: server().headers }));
    devices.push(made);
    return made;
  }

  async function settle(...all: Device[]): Promise<void> {
    for (const each of [...all, ...all]) await each.settled();
  }

  test('an edit keeps the attachments, which stay on the server', async () => {
    const data = btoa('hello');
    const attachments = { 'note.txt': { content_type: 'text/plain', data } };
    await database.write([{ _id: 'o', item: 'lamp', _attachments: attachments }]);
    await a.settled();
    expect(await a.orders.get('o')).not.toHaveProperty('_attachments');
    await a.orders.patch('o', { count: 1 });
    await a.settled();
    await a.orders.patch('o', { count: 2 });
    await a.settled();
    const found = await database.get('o', '?attachments=true');
    expect(found).toMatchObject({ item: 'lamp', count: 2 });
    expect(found._attachments['note.txt']).toMatchObject({ data });
  });

  test('an attachment that somebody adds meanwhile survives the merge', async () => {
    await database.write([{ _id: 'o', item: 'lamp' }]);
    await a.settled();
    a.sync.pause();
    await a.orders.patch('o', { count: 1 });
    const { _rev } = await database.get('o');
    const attachments = { 'note.txt': { content_type: 'text/plain', data: btoa('hello') } };
    await database.write([{ _id: 'o', _rev, item: 'lamp', _attachments: attachments }]);
    a.sync.resume();
    await a.settled();
    expect(await database.get('o')).toMatchObject({
      item: 'lamp',
      count: 1,
      _attachments: { 'note.txt': { length: 5 } },
    });
  });

  test('managed fields and values outside JSON come back on another device', async () => {
    const at = new Date(86_400_000);
    const values = { at, big: 2n ** 70n, map: new Map([['k', new Set([at])]]), no: undefined };
    await a.orders.insert({ _id: 'o', item: 'lamp', ...values } as object);
    await a.orders.patch('o', { count: 1 });
    await a.orders.archive('o');
    await a.settled();
    const b = device();
    await b.settled();
    const [there] = await b.orders.filter({}, { archived: 'only' });
    const [here] = await a.orders.filter({}, { archived: 'only' });
    expect(here).toMatchObject({ _archived: true, ...values });
    expect(there).toEqual(here);
    const seen = await database.get('o');
    expect(seen).toMatchObject({ item: 'lamp', at: '1970-01-02T00:00:00.000Z' });
    expect(seen.big).toMatch(/^\$bigint:[0-9a-f]{8}$/);
    expect(seen.$cairn.fields).toMatchObject({ _archived: true });
  });

  test('another program changes a date, and leaves what it does not know', async () => {
    await a.orders.insert({ _id: 'o', at: new Date(0), item: 'lamp' });
    await a.settled();
    const { at, ...kept } = await database.get('o');
    expect(at).toBe('1970-01-01T00:00:00.000Z');
    await database.write([{ ...kept, at: '2026-01-01', count: 1 }]);
    await a.settled();
    expect(await a.orders.get('o')).toMatchObject({ at: '2026-01-01', item: 'lamp', count: 1 });
  });

  test('a change by a program that keeps the key of our push is not taken for ours', async () => {
    await a.orders.insert({ _id: 'o', item: 'lamp', count: 1 });
    await a.settled();
    a.sync.pause();
    await a.orders.patch('o', { count: 2 });
    await database.write([{ ...(await database.get('o')), item: 'book' }]);
    a.sync.resume();
    await a.settled();
    expect(await a.orders.get('o')).toMatchObject({ item: 'book', count: 2 });
    expect(await database.get('o')).toMatchObject({ item: 'book', count: 2 });
  });

  test('a field $cairn of others, or a damaged one, stops nothing', async () => {
    await database.write([
      { _id: 'a', $cairn: 'a string' },
      { _id: 'b', item: 'lamp', $cairn: { key: 7, fields: [1], exact: { paths: 'x', values: 1 } } },
      {
        _id: 'c',
        item: 'pen',
        $cairn: { exact: { paths: [['item'], ['no', 'where']], values: [] } },
      },
    ]);
    await a.settled();
    expect(await a.orders.get('a')).toMatchObject({ $cairn: 'a string' });
    expect(await a.orders.get('b')).toMatchObject({ item: 'lamp' });
    expect(await a.orders.get('c')).toMatchObject({ item: 'pen' });
    await a.orders.patch('a', { count: 1 });
    await a.settled();
    const b = device();
    await b.settled();
    expect(await b.orders.get('a')).toMatchObject({ $cairn: 'a string', count: 1 });
  });

  test('design documents stay on the server, and ids that CouchDB keeps for itself are refused', async () => {
    await database.write([
      { _id: '_design/views', views: {} },
      { _id: 'o', item: 'lamp' },
    ]);
    await a.orders.insertMany([{ _id: '_design/evil', item: 'x' }, { _id: 'p' }]);
    await settle(a);
    expect((await a.content()).map((each) => (each as { _id: string })._id)).toEqual([
      ...['_design/evil', 'o', 'p'],
    ]);
    expect(await a.sync.rejected()).toMatchObject([{ id: '_design/evil' }]);
    expect((await database.documents()).map(({ _id }) => _id)).toEqual(['_design/views', 'o', 'p']);
  });
});
