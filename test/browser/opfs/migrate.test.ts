import { expect, test } from 'vitest';
import { connect, migrateStorage } from '../../../src/index.ts';
import { hasFiles } from './has-files.ts';

let names = 0;
const newName = () => `migrated ${++names} ${Math.random()}`;
const files = await hasFiles();

function open(name: string, storage: 'opfs' | 'indexeddb') {
  const db = connect({ name, storage });
  return {
    db,
    people: new db.Collection<{ n: number }>({ name: 'people', type: 'DOCUMENT_BASED' }),
  };
}

async function fill(name: string, storage: 'opfs' | 'indexeddb') {
  const { db, people } = open(name, storage);
  await people.insertMany(Array.from({ length: 1000 }, (_, n) => ({ _id: `p${n}`, n })));
  await people.createBackup({ label: 'before' });
  await people.deleteMany({ n: { $gte: 900 } });
  await db.close();
}

async function read(name: string, storage: 'opfs' | 'indexeddb') {
  const { db, people } = open(name, storage);
  const found = await people.filter({});
  const backups = await people.listBackups();
  const status = db.status;
  await db.close();
  return { numbers: found.map(({ n }) => n), labels: backups.map(({ label }) => label), status };
}

const NUMBERS = Array.from({ length: 900 }, (_, n) => n);

if (files) {
  test('moves a database to files and back, with its backups', async () => {
    const name = newName();
    await fill(name, 'indexeddb');
    await migrateStorage({ name, to: 'opfs' });
    await migrateStorage({ name, to: 'opfs' });
    const moved = await read(name, 'opfs');
    expect(moved).toMatchObject({ numbers: NUMBERS, labels: ['before'] });
    expect(moved.status).toMatchObject({ storage: 'opfs', storage_reason: undefined });

    await migrateStorage({ name, to: 'indexeddb' });
    expect(await read(name, 'indexeddb')).toMatchObject({ numbers: NUMBERS, labels: ['before'] });
    expect((await read(name, 'indexeddb')).status.storage).toBe('indexeddb');
  });

  test('data that is not moved stays in IndexedDB, and the status says so', async () => {
    const name = newName();
    await fill(name, 'indexeddb');
    const { numbers, status } = await read(name, 'opfs');
    expect(numbers).toEqual(NUMBERS);
    expect(status.storage).toBe('indexeddb');
    expect(status.storage_reason).toMatch(/migrateStorage/);
  });

  test('a client without files does not take a moved database for an empty one', async () => {
    const name = newName();
    await fill(name, 'opfs');
    const { db, people } = open(name, 'indexeddb');
    await expect(people.count({})).rejects.toMatchObject({ code: 'storage_moved' });
    await expect(people.insert({ n: 1 })).rejects.toMatchObject({ code: 'storage_moved' });
    await db.close().catch(() => undefined);
    expect((await read(name, 'opfs')).numbers).toEqual(NUMBERS);
  });

  test('nothing moves while a client is open', async () => {
    const name = newName();
    await fill(name, 'indexeddb');
    const { db, people } = open(name, 'indexeddb');
    await people.ready;
    await expect(migrateStorage({ name, to: 'opfs' })).rejects.toMatchObject({
      code: 'database_busy',
    });
    expect(await people.count({})).toBe(900);
    await db.close();
  });
} else {
  test('where there are no files nothing moves', async () => {
    const name = newName();
    await fill(name, 'indexeddb');
    await expect(migrateStorage({ name, to: 'opfs' })).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
    const { numbers, status } = await read(name, 'opfs');
    expect(numbers).toEqual(NUMBERS);
    expect(status.storage_reason).toMatch(/no database files/);
  });
}
