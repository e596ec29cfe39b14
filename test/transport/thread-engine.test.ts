import { afterEach, expect, test, vi } from 'vitest';
import { Database, type DatabaseClient, StorageError } from '../../src/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { faultyDriver, outage } from '../storage/faulty-driver.ts';
import { passOn } from '../storage/pass-on.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

let names = 0;
const freshName = () => `thread engine ${++names}`;
const notesOf = (client: DatabaseClient) =>
  new client.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });

/** Makes `indexedDB.open` fail, as private modes do. */
function forbidToOpen(name: string): void {
  vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
    throw new DOMException('not here', name);
  });
}

test.each(['SecurityError', 'InvalidStateError'])(
  'if opening IndexedDB ends in %s the engine runs in memory, with one warning',
  async (name) => {
    forbidToOpen(name);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const db = new Database({ name: freshName() });
    const notes = notesOf(db);
    await notes.insert({ _id: 'a' });
    await notes.save();
    expect(db.status).toMatchObject({ storage: 'memory', unsaved: 0, state: 'open' });
    expect(await notes.count()).toBe(1);
    expect(warn).toHaveBeenCalledOnce();
    await db.close();
  },
);

test('a driver that has no storage is an error: memory does not replace it', async () => {
  const reason = new StorageError('storage_unavailable', 'not mounted');
  const storage: StorageDriver = { kind: 'mounted', open: () => Promise.reject(reason) };
  const db = new Database({ name: freshName(), storage });
  await expect(notesOf(db).insert({})).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringContaining('not mounted'),
  });
  expect(db.status.state).toBe('failed');
});

test('without IndexedDB the engine runs in memory, with one warning', async () => {
  vi.stubGlobal('indexedDB', undefined);
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  // It warns once in a process, which test files share.
  vi.resetModules();
  const lib = await import('../../src/index.ts');
  const db = new lib.Database({ name: freshName() });
  await notesOf(db).insert({});
  expect(db.status.storage).toBe('memory');
  const other = new lib.Database({ name: freshName() });
  await notesOf(other).insert({});
  await other.close();
  expect(warn).toHaveBeenCalledOnce();
  await db.close();
});

test('storage: indexeddb without IndexedDB is an error', async () => {
  vi.stubGlobal('indexedDB', undefined);
  const db = new Database({ name: freshName(), storage: 'indexeddb' });
  await expect(notesOf(db).insert({})).rejects.toMatchObject({ code: 'storage_unavailable' });
});

test('storage: indexeddb where the browser forbids IndexedDB is an error, and not memory', async () => {
  forbidToOpen('SecurityError');
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const db = new Database({ name: freshName(), storage: 'indexeddb' });
  await expect(notesOf(db).insert({})).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(db.status.state).toBe('failed');
  expect(warn).not.toHaveBeenCalled();
});

test('after a failed open the next client can open the database', async () => {
  const name = freshName();
  forbidToOpen('VersionError');
  const db = new Database({ name });
  await expect(notesOf(db).count()).rejects.toMatchObject({ code: 'format_newer' });
  expect(db.status.state).toBe('failed');
  vi.restoreAllMocks();
  const again = new Database({ name });
  expect(await notesOf(again).count()).toBe(0);
  await again.close();
});

test('clients of one database share an engine, which ends with the last one', async () => {
  const name = freshName();
  const [one, two] = [new Database({ name }), new Database({ name })];
  const [ofOne, ofTwo] = [notesOf(one), notesOf(two)];
  await ofOne.insert({ _id: 'a' });
  expect(await ofTwo.get('a')).toMatchObject({ _id: 'a' });
  await one.close();
  await ofTwo.insert({ _id: 'b' });
  await two.close();
  const later = new Database({ name });
  expect(await notesOf(later).count()).toBe(2);
  await later.close();
});

test('a client opened while the last one closes sees all data and loses none', async () => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const storage = faultyDriver(memoryDriver(), true);
    const name = freshName();
    const before = new Database({ name, storage });
    await notesOf(before).insert({ pad: 'a'.repeat(60_000) });
    await before.close();
    const first = new Database({ name, storage });
    // Saving this triggers a compaction, which runs while the client closes.
    await notesOf(first).insert({ pad: 'b'.repeat(60_000) });
    const closing = first.close();
    for (let tick = 0; tick < ticks; tick++) await (tick % 3 ? undefined : turn());
    const second = new Database({ name, storage });
    const again = notesOf(second);
    expect([ticks, await again.count()]).toEqual([ticks, 2]);
    await again.insert({ _id: 'c' });
    await closing;
    await second.close();
    const third = new Database({ name, storage });
    expect([ticks, await notesOf(third).count()]).toEqual([ticks, 3]);
    await third.close();
  }
});

test('a failed close of the storage releases the database', async () => {
  const memory = memoryDriver();
  const storage: StorageDriver = {
    kind: 'indexeddb',
    open: async (name, events) => {
      const opened = await memory.open(name, events);
      return {
        getMany: (...given) => opened.getMany(...given),
        list: (...given) => opened.list(...given),
        keys: (...given) => opened.keys(...given),
        write: (...given) => opened.write(...given),
        close: async () => {
          throw outage;
        },
      };
    },
  };
  const name = freshName();
  const first = new Database({ name, storage });
  await notesOf(first).insert({});
  await expect(first.close()).rejects.toBe(outage);
  const second = new Database({ name, storage });
  expect(await notesOf(second).count()).toBe(1);
  await second.close().catch(() => undefined);
});

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

test('a closed database is opened again with the options of the new client', async () => {
  const memory = memoryDriver();
  const durabilities: string[] = [];
  const driver: StorageDriver = {
    kind: 'noting',
    async open(name, events) {
      const storage = await memory.open(name, events);
      return {
        ...passOn(storage),
        write: (operations, durability) => {
          durabilities.push(durability);
          return storage.write(operations, durability);
        },
      };
    },
  };
  const name = freshName();
  for (const durability of ['relaxed', 'strict'] as const) {
    const db = new Database({ name, storage: driver, durability });
    await notesOf(db).insert({});
    await db.save();
    await db.close();
  }
  expect([...new Set(durabilities)]).toEqual(['relaxed', 'strict']);
});
