import { expect, test } from 'vitest';
import {
  type BackupTarget,
  backupTo,
  rememberedTargets,
  restoreFrom,
} from '../../src/backup-targets/index.ts';
import { connect, Database, type DatabaseClient, migrateStorage } from '../../src/cairndb.ts';

const newName = () => `evicted ${Math.random()}`;

/** A target that says where it is. */
function newTarget(): BackupTarget & { readonly id: string } {
  const objects = new Map<string, Uint8Array>();
  return {
    id: 'test:one',
    put: async (path, bytes) => void objects.set(path, bytes),
    get: async (path) => objects.get(path),
    list: async (prefix) => [...objects.keys()].filter((path) => path.startsWith(prefix)),
    delete: async (path) => void objects.delete(path),
  };
}

const open = (db: DatabaseClient) =>
  new db.Collection<{ n: number }>({ name: 'rows', type: 'DOCUMENT_BASED' });

/** What the browser does: it tells nobody. */
function evict(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(`cairn:${name}`);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
}

/** Opens a database, and waits until all that its opening reports has arrived. */
async function reopen(make: (name: string) => DatabaseClient, name: string) {
  const db = make(name);
  const errors: (string | undefined)[] = [];
  db.on('error', ({ error }) => errors.push((error as { code?: string }).code));
  const rows = open(db);
  await rows.count();
  await db.ready;
  await rows.count();
  return { db, rows, errors };
}

test.each<[string, (name: string) => DatabaseClient]>([
  ['connect', (name) => connect({ name })],
  ['Database', (name) => new Database({ name })],
])(
  '%s: the opening after an eviction says so, backs up nothing by itself, and a restore heals',
  async (_, make) => {
    const name = newName();
    const target = newTarget();
    const first = await reopen(make, name);
    await first.rows.insertMany(Array.from({ length: 100 }, (__, n) => ({ _id: `r${n}`, n })));
    await first.db.save();
    const { name: backup } = await backupTo(first.db, target).run();
    expect(first.errors).toEqual([]);
    expect(first.db.status.storage_evicted).toBeUndefined();
    await first.db.close();

    // Again without an eviction: nothing.
    const second = await reopen(make, name);
    expect(second.errors).toEqual([]);
    expect(await second.rows.count()).toBe(100);
    await second.db.close();

    await evict(name);
    const third = await reopen(make, name);
    await expect.poll(() => third.errors).toEqual(['storage_evicted']);
    expect(third.db.status.storage_evicted).toBe(true);
    expect(await third.rows.count()).toBe(0);
    expect(rememberedTargets(name)).toEqual(['test:one']);
    // The app goes on, and its schedule is due: the empty database must not become the newest
    // backup.
    await third.rows.insert({ _id: 'new', n: -1 });
    await third.db.save();
    const remote = backupTo(
      third.db,
      { ...target, id: 'test:other' },
      { every: 10, device: 'mine' },
    );
    const refused: unknown[] = [];
    remote.on('error', ({ error }) => refused.push(error));
    await expect.poll(() => refused).toMatchObject([{ code: 'storage_evicted' }]);
    expect((await remote.list()).map(({ name: listed }) => listed)).toEqual([backup]);

    const steps = new Set<string>();
    await restoreFrom(target, { db: third.db, onProgress: ({ step }) => steps.add(step) });
    expect([...steps]).toEqual(['download', 'import']);
    expect(await third.rows.count()).toBe(100);
    await expect.poll(() => third.db.status.storage_evicted).toBeUndefined();
    remote.stop();
    await third.db.close();

    const fourth = await reopen(make, name);
    expect(fourth.errors).toEqual([]);
    expect(fourth.db.status.storage_evicted).toBeUndefined();
    await fourth.db.destroy();
  },
);

test('a database that was destroyed, or never held data, or is in memory, is not evicted', async () => {
  const name = newName();
  const make = () => new Database({ name });
  // Opened, and never written to.
  const empty = await reopen(make, name);
  await empty.db.close();
  await evict(name);
  const again = await reopen(make, name);
  expect(again.errors).toEqual([]);
  await again.rows.insert({ n: 1 });
  await again.db.save();
  await again.db.destroy();
  expect(Object.keys(localStorage).filter((key) => key.includes(name))).toEqual([]);
  const anew = await reopen(make, name);
  expect(anew.errors).toEqual([]);
  expect(anew.db.status.storage_evicted).toBeUndefined();
  await anew.rows.insert({ n: 1 });
  await anew.db.close();
  const memory = await reopen(() => new Database({ name, storage: 'memory' }), name);
  await memory.rows.insert({ n: 1 });
  await memory.db.save();
  expect(memory.errors).toEqual([]);
  await memory.db.close();
  const last = await reopen(make, name);
  expect(last.errors).toEqual([]);
  await last.db.destroy();
});

test('run() by the app gives up what was evicted: the schedule goes on', async () => {
  const name = newName();
  const first = await reopen(() => new Database({ name }), name);
  await first.rows.insert({ n: 1 });
  await first.db.close();
  await evict(name);
  const second = await reopen(() => new Database({ name }), name);
  await expect.poll(() => second.db.status.storage_evicted).toBe(true);
  await backupTo(second.db, newTarget()).run();
  await expect.poll(() => second.db.status.storage_evicted).toBeUndefined();
  await second.db.destroy();
});

test('a database that was moved to files and back is not evicted', async () => {
  const name = newName();
  for (const storage of ['indexeddb', 'opfs', 'indexeddb'] as const) {
    await migrateStorage({ name, to: storage }).catch(() => undefined); // where there are no files
    const { db, rows, errors } = await reopen(() => connect({ name, storage }), name);
    await rows.insert({ n: 1 });
    await db.save();
    expect(errors).toEqual([]);
    if (storage === 'opfs' || (await rows.count()) < 3) await db.close();
    else await db.destroy();
  }
});
