import { expect, test } from 'vitest';
import { connect, Database, type DatabaseClient } from '../../src/cairndb.ts';

const open = (db: DatabaseClient) =>
  new db.Collection<{ text: string }>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    save_timeout: 3600,
  });

/** All that the browser keeps under a name. */
async function leftOf(name: string): Promise<readonly unknown[]> {
  const databases = (await indexedDB.databases?.()) ?? [];
  return [...databases.map((one) => one.name), ...Object.keys(localStorage)].filter((key) =>
    key?.includes(name),
  );
}

test.each([
  ['connect', connect],
  ['Database', (options: { name: string }) => new Database(options)],
] as const)(
  '%s: destroy() leaves nothing of a database that two clients have open',
  async (_, make) => {
    const name = `wiped ${Math.random()}`;
    const [db, other] = [make({ name }), make({ name })];
    const [notes, others] = [open(db), open(other)];
    await notes.insert({ text: 'mine' });
    await notes.createBackup();
    await db.save();
    await others.insert({ text: 'unsaved' });
    const shown = others.live({});
    const stop = shown.subscribe(() => undefined);
    await shown.ready;
    // The database, and the mark by which an eviction is noticed.
    expect(await leftOf(name)).toHaveLength(2);

    await db.destroy();
    stop();
    expect(await leftOf(name)).toEqual([]);
    await expect(others.count()).rejects.toMatchObject({ code: 'database_destroyed' });
    await other.close();

    const anew = make({ name });
    const empty = open(anew);
    expect(await empty.count({}, { archived: true })).toBe(0);
    expect(await empty.listBackups()).toEqual([]);
    await empty.insert({ text: 'new' });
    await db.destroy();
    expect(await empty.count()).toBe(1);
    await anew.destroy();
    expect(await leftOf(name)).toEqual([]);
  },
);

test('a connection of other code that stays open is database_busy; the data is gone', async () => {
  const name = `held ${Math.random()}`;
  const db = connect({ name });
  await open(db).insert({ text: 'mine' });
  await db.save();
  const holder = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(`cairn:${name}`);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  await expect(db.destroy()).rejects.toMatchObject({ name: 'StorageError', code: 'database_busy' });
  const keys = await new Promise((resolve, reject) => {
    const request = holder.transaction('segments').objectStore('segments').count();
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  expect(keys).toBe(0);
  holder.close();
  await db.destroy();
  expect(await leftOf(name)).toEqual([]);
});
