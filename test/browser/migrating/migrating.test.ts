import Dexie from 'dexie';
import { openDB } from 'idb';
import localforage from 'localforage';
import Loki from 'lokijs';
import IncrementalAdapter from 'lokijs/src/incremental-indexeddb-adapter.js';
import IndexedAdapter from 'lokijs/src/loki-indexed-adapter.js';
import PouchDB from 'pouchdb-browser';
import { createRxDatabase } from 'rxdb/plugins/core';
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie';
import { getRxStorageLocalstorage } from 'rxdb/plugins/storage-localstorage';
import { describe, expect, test } from 'vitest';
import { moveTable } from '../../../docs/migrating/dexie.md?code';
import { moveObjectStore } from '../../../docs/migrating/indexeddb.md?code';
import { moveStore } from '../../../docs/migrating/localforage.md?code';
import { moveCollection as moveLoki } from '../../../docs/migrating/lokijs.md?code';
import { moveDatabase } from '../../../docs/migrating/pouchdb.md?code';
import { moveCollection as moveRx } from '../../../docs/migrating/rxdb.md?code';
import { checkMove, documents, failing, newName, open, rows } from './moves.ts';

const born = new Date(2001, 1, 3);
const bytes = new Uint8Array([1, 2, 3]);

describe('Dexie', () => {
  test('rows are moved once, with Dates, bytes and Blobs', async () => {
    const name = newName();
    const old = new Dexie(name);
    old.version(3).stores({ friends: '++id, name' });
    await old.table('friends').bulkAdd(rows.map((row) => ({ ...row, born, bytes })));
    await old.table('friends').put({ id: 1, name: 'first', photo: new Blob(['jpg']) });
    old.close();

    const db = open();
    const friends = documents<{ name: string; born: Date; photo?: Blob }>(db);
    const convert = ({ id, ...row }: any, key: any) => ({ ...row, _id: String(key) });
    await checkMove(db, rows.length, friends, (failAt) =>
      moveTable(db, { database: name, table: 'friends' }, friends, failing(convert, failAt)),
    );
    expect(await friends.get('77')).toMatchObject({ _id: '77', name: 'row 77', born, bytes });
    expect(await (await friends.get('1'))?.photo?.text()).toBe('jpg');
  });

  test('keys may be compound, Dates or outside of the rows', async () => {
    const name = newName();
    const old = new Dexie(name);
    old.version(1).stores({ pairs: '[a+b]', outside: '', empty: 'id' });
    await old
      .table('pairs')
      .bulkAdd(rows.map(({ id }) => ({ a: id % 2, b: born, c: id })).slice(0, 2));
    await old.table('outside').bulkAdd([{ at: 1 }, { at: 2 }], [born, new Date(2002, 1, 1)]);
    old.close();

    const db = open();
    const [pairs, outside, empty] = ['pairs', 'outside', 'empty'].map((each) =>
      documents(db, each),
    );
    const convert = (row: object, key: unknown) => ({ ...row, _id: JSON.stringify(key) });
    expect(await moveTable(db, { database: name, table: 'pairs' }, pairs, convert)).toBe(2);
    expect(await moveTable(db, { database: name, table: 'outside' }, outside, convert)).toBe(2);
    expect(await moveTable(db, { database: name, table: 'empty' }, empty)).toBe(0);
    expect(await outside?.get(JSON.stringify(born))).toMatchObject({ at: 1 });
  });

  test('without the old database nothing happens, and none is made', async () => {
    const name = newName();
    const db = open();
    expect(await moveTable(db, { database: name, table: 'friends' }, documents(db))).toBe(0);
    expect(await Dexie.exists(name)).toBe(false);
  });

  test('what Cairn has at an id stays, and is reported', async () => {
    const name = newName();
    const old = new Dexie(name);
    old.version(1).stores({ friends: 'id' });
    await old.table('friends').add({ id: 'a', text: 'old' });
    old.close();
    const db = open();
    const friends = documents<{ text: string }>(db);
    await friends.insert({ _id: 'a', text: 'new' });
    const moved = moveTable(db, { database: name, table: 'friends' }, friends);
    await expect(moved).rejects.toMatchObject({ code: 'id_taken' });
    expect(await friends.get('a')).toMatchObject({ text: 'new' });
  });
});

describe('RxDB', () => {
  test.each([
    ['the storage over Dexie', getRxStorageDexie as () => any],
    ['the storage over localStorage', getRxStorageLocalstorage],
  ])('%s', async (_, storage) => {
    const properties = {
      id: { type: 'string', maxLength: 20 },
      name: { type: 'string' },
      due: { type: 'string', format: 'date-time' },
    };
    const schema = { version: 0, primaryKey: 'id', type: 'object', properties } as const;
    const made = await createRxDatabase({
      name: `m${Math.random()}`.replace('.', ''),
      storage: storage(),
      multiInstance: false,
    });
    const { tasks: old } = await made.addCollections({ tasks: { schema } });
    await old?.bulkInsert(
      rows.map((row) => ({ ...row, id: `t${row.id}`, due: born.toISOString() })),
    );
    await old?.findOne('t1').remove();

    const db = open();
    const tasks = documents<{ name: string; due: Date }>(db);
    const convert = ({ id, due, ...task }: any) => ({ ...task, _id: id, due: new Date(due) });
    await checkMove(db, rows.length - 1, tasks, (failAt) =>
      moveRx(db, async () => old, tasks, failing(convert, failAt)),
    );
    const { _updated, _archived, ...task } = (await tasks.get('t7')) ?? {};
    expect(task).toEqual({ _id: 't7', name: 'row 7', due: born });
    await made.remove();
  });
});

test('PouchDB: documents and attachments', async () => {
  const name = newName();
  const old = new PouchDB(name);
  const created = born.toJSON();
  await old.bulkDocs(rows.map((row) => ({ _id: row.name, created, tags: ['a'] })));
  const photo = { content_type: 'image/jpeg', data: new Blob(['jpg'], { type: 'image/jpeg' }) };
  await old.put({ _id: 'with a photo', created, _attachments: { 'me.jpg': photo } });
  await old.put({ _id: '_design/by-name', views: {} });
  await old.remove(await old.get('row 3'));
  await old.close();

  const db = open();
  const notes = documents<{ created: Date; attachments?: Record<string, Blob> }>(db);
  const convert = (document: any) => ({ ...document, created: new Date(document.created) });
  const move = (failAt?: number) => moveDatabase(db, name, notes, failing(convert, failAt));
  await expect(move(510)).rejects.toThrow('the page ended');
  expect(await notes.count()).toBe(499); // and a design document
  expect(await Promise.all([move(), move()])).toEqual([rows.length + 1, rows.length + 1]);
  expect(await move(0)).toBe(rows.length + 1);
  expect(await notes.count()).toBe(rows.length);
  const { _updated, _archived, ...note } = (await notes.get('row 7')) ?? {};
  expect(note).toEqual({ _id: 'row 7', created: born, tags: ['a'] });
  const file = (await notes.get('with a photo'))?.attachments?.['me.jpg'];
  expect([file?.type, await file?.text()]).toEqual(['image/jpeg', 'jpg']);
});

test.each([
  ['the incremental adapter', () => new IncrementalAdapter()],
  ['the adapter for IndexedDB', () => new IndexedAdapter('moved')],
])('LokiJS with %s', async (_, adapter) => {
  const name = newName();
  const old = new Loki(name, { adapter: adapter() });
  const tasks = old.addCollection('tasks');
  tasks.insert(rows.map(({ name }) => ({ name, due: born })));
  tasks.remove(tasks.findOne({ name: 'row 3' }));
  const save = () =>
    new Promise<void>((resolve, reject) => {
      old.saveDatabase((error: unknown) => (error ? reject(error) : resolve()));
    });
  await save().catch(save); // the adapter for IndexedDB reports its first save as failed

  const db = open();
  const moved = documents<{ name: string; due: Date; created: Date }>(db);
  const convert = (task: any, { $loki, meta }: any) => ({
    ...task,
    _id: String($loki),
    due: new Date(task.due),
    created: new Date(meta.created),
  });
  const from = () => ({ database: name, adapter: adapter(), collection: 'tasks' });
  await checkMove(db, rows.length - 1, moved, (failAt) =>
    moveLoki(db, from(), moved, failing(convert, failAt)),
  );
  expect(await moved.get('7')).toMatchObject({ name: 'row 7', due: born });
  expect((await moved.get('7'))?.created.getFullYear()).toBeGreaterThan(2020);
});

test('localForage: keys with dots, null, Dates and Blobs', async () => {
  const name = newName();
  const from = { name, storeName: 'keyvaluepairs' };
  const old = localforage.createInstance(from);
  await Promise.all(rows.map((row) => old.setItem(row.name, row.id)));
  const items = { 'a.b[0]': { deep: 1 }, nothing: null, born, photo: new Blob(['jpg']), bytes };
  for (const [key, value] of Object.entries(items)) await old.setItem(key, value);

  const db = open();
  const settings = new db.Collection<any>({ name: 'settings', type: 'KEY_VALUE_BASED' });
  const total = rows.length + 5;
  await settings.set('row 99', 'new'); // in the second batch
  await expect(moveStore(db, from, settings)).rejects.toThrow('row 99 has a value in Cairn');
  expect(await settings.count()).toBe(501);
  expect(await settings.get('row 99')).toBe('new');
  await settings.delete('row 99');
  expect(await Promise.all([moveStore(db, from, settings), moveStore(db, from, settings)])).toEqual(
    [total, total],
  );
  await settings.set('born', 'later');
  expect(await moveStore(db, from, settings)).toBe(total);
  expect(await settings.count()).toBe(total);
  expect(await settings.get(['a.b[0]'])).toEqual({ deep: 1 });
  expect(await settings.get('nothing')).toBe(null);
  expect(await settings.get('born')).toBe('later');
  expect(await settings.get('bytes')).toEqual(bytes);
  expect(await (await settings.get('photo')).text()).toBe('jpg');
});

test('IndexedDB by hand', async () => {
  const name = newName();
  const old = await openDB(name, 2, {
    upgrade: (database) => void database.createObjectStore('photos', { keyPath: 'id' }),
  });
  const writing = old.transaction('photos', 'readwrite');
  for (const row of rows) void writing.store.put({ ...row, born });
  await writing.done;
  old.close();

  const db = open();
  const photos = documents<{ name: string; born: Date }>(db);
  const convert = ({ id, ...row }: any, key: any) => ({ ...row, _id: String(key) });
  await checkMove(db, rows.length, photos, (failAt) =>
    moveObjectStore(db, { database: name, store: 'photos' }, photos, failing(convert, failAt)),
  );
  expect(await photos.get('77')).toMatchObject({ name: 'row 77', born });
  const nowhere = { database: newName(), store: 'photos' };
  expect(await moveObjectStore(db, nowhere, photos)).toBe(0);
});
