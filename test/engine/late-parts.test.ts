import { afterEach, expect, test, vi } from 'vitest';
import { wait } from '../../src/async/coroutine.ts';
import { parts } from '../../src/engine/parts.ts';
import { CairnError, StorageError } from '../../src/errors/errors.ts';
import type { DatabaseClient } from '../../src/index.ts';
import type { Storage, StorageDriver } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { openClient } from './engine-client.ts';
import { type FakeClock, settled } from './fake-clock.ts';

const HOUR = 3_600_000;

let client: DatabaseClient;
let clock: FakeClock;

afterEach(async () => {
  vi.restoreAllMocks();
  await client.close();
});

function open(options: object = {}) {
  ({ client, clock } = openClient(memoryDriver()));
  return documents('things', options);
}

const documents = (name: string, options: object = {}) =>
  new client.Collection<any>({ name, type: 'DOCUMENT_BASED', ...options });

/** Keeps back the code of all parts. @returns lets it come, or not. */
function holdCode() {
  let settle: (error?: Error) => void = () => undefined;
  const held = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  const { load } = parts;
  vi.spyOn(parts, 'load').mockImplementation(async (name) => {
    await held;
    return (await load.call(parts, name)) as never;
  });
  vi.spyOn(parts, 'need').mockImplementation(function* (name) {
    return yield* wait(parts.load(name));
  });
  return { come: () => settle(), fail: () => settle(new CairnError('load_failed', '')) };
}

/** Storage that answers no read of manifests. @returns makes those reads fail. */
function stuckDriver() {
  const memory = memoryDriver();
  let fail: () => void = () => undefined;
  const stuck = new Promise<never>((_, reject) => {
    fail = () => reject(new StorageError('storage_lost', 'gone'));
  });
  stuck.catch(() => undefined);
  const open = async (...given: Parameters<StorageDriver['open']>): Promise<Storage> => {
    const storage = await memory.open(...given);
    const getMany = storage.getMany.bind(storage);
    return Object.assign(storage, {
      getMany: (...asked: Parameters<Storage['getMany']>) =>
        asked[0] === 'collections' ? stuck : getMany(...asked),
    });
  };
  return { driver: { ...memory, open }, fail };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await settled();
}

test('a collection of the new name waits for a rename whose code has to come', async () => {
  await open().insert({ _id: 'a' });
  // Its calls of the database are there then.
  await client.collections();
  const code = holdCode();
  const renaming = client.renameCollection('things', 'others');
  await turns();
  const counting = documents('others').count();
  await turns();
  code.come();
  expect(await renaming).toBeUndefined();
  expect(await counting).toBe(1);
});

test('a rename whose code does not come leaves both names as they were', async () => {
  const things = open();
  await things.insert({ _id: 'a' });
  const code = holdCode();
  const renaming = client.renameCollection('things', 'others');
  await turns();
  const counting = documents('others').count();
  const inserting = things.insert({ _id: 'b' });
  await turns();
  code.fail();
  await expect(renaming).rejects.toMatchObject({ code: 'load_failed' });
  await inserting;
  expect(await counting).toBe(0);
  expect(await things.count()).toBe(2);
});

test('a drop whose code does not come leaves the collection as it was', async () => {
  const things = open({ activate_drop_method: true });
  await things.insert({ _id: 'a' });
  const code = holdCode();
  const dropping = things.Drop();
  await turns();
  code.fail();
  await expect(dropping).rejects.toMatchObject({ code: 'load_failed' });
  vi.restoreAllMocks();
  expect(await documents('things').count()).toBe(1);
  expect(await things.Drop()).toBe(true);
  expect(await documents('things').count()).toBe(0);
});

test('a transaction whose code does not come asks for it once', async () => {
  const things = open();
  await things.insert({ _id: 'a' });
  const code = holdCode();
  vi.spyOn(parts, 'isWanted').mockReturnValue(false);
  const transaction = client.transaction((tx) => tx(things).get('a'));
  await turns();
  code.fail();
  await expect(transaction).rejects.toMatchObject({ code: 'load_failed' });
  await turns();
  // Another load, which fails as well, would be shared by the next transaction.
  expect(vi.mocked(parts.load).mock.calls).toEqual([['transactions']]);
});

test('saves go on while the code that merges their segments is on its way', async () => {
  const driver = memoryDriver();
  ({ client, clock } = openClient(driver));
  const things = documents('things');
  const storage = await driver.open('test', { damaged: () => undefined });
  const count = async () => (await storage.keys('segments', ['things'])).length;
  await things.insert({ _id: 'a' });
  const code = holdCode();
  vi.spyOn(parts, 'has').mockReturnValue(false);
  for (let at = 0; at < 4; at++) {
    await things.insert({ text: 'x'.repeat(40_000) });
    await things.save();
  }
  expect(await count()).toBe(4);
  vi.mocked(parts.has).mockRestore();
  code.come();
  await turns();
  await things.insert({ _id: 'b' });
  await things.save();
  await turns();
  expect(await count()).toBeLessThan(4);
  expect(await things.count()).toBe(6);
});

test('a unique index whose code does not come fails calls until it does', async () => {
  const driver = memoryDriver();
  ({ client } = openClient(driver));
  await documents('things').insert({ _id: 'a', email: 'x' });
  await client.close();
  ({ client } = openClient(driver));
  const code = holdCode();
  const things = documents('things', { indexes: [{ fields: ['email'], unique: true }] });
  const inserting = things.insert({ email: 'x' });
  await turns();
  code.fail();
  await expect(inserting).rejects.toMatchObject({ code: 'load_failed' });
  await expect(things.get('a')).rejects.toMatchObject({ code: 'load_failed' });
  vi.restoreAllMocks();
  await expect(things.insert({ email: 'x' })).rejects.toMatchObject({ code: 'unique_violation' });
  expect(await things.get('a')).toMatchObject({ email: 'x' });
});

test('reads do without a plain index whose code does not come, and get it later', async () => {
  const driver = memoryDriver();
  ({ client } = openClient(driver));
  await documents('things').insert({ _id: 'a', age: 1 });
  await client.close();
  ({ client } = openClient(driver));
  const code = holdCode();
  const things = documents('things', { indexes: ['age'] });
  code.fail();
  expect(await things.filter({ age: 1 })).toHaveLength(1);
  const { plan } = await things.explain({ age: 1 });
  expect(plan.kind).toBe('scan');
  vi.restoreAllMocks();
  await things.count();
  expect((await things.explain({ age: 1 })).plan.kind).toBe('index');
});

test('daily backups begin once their code comes', async () => {
  const code = holdCode();
  const things = open({ auto_create_backup: true });
  await things.insert({ _id: 'a' });
  await turns();
  code.fail();
  await turns();
  vi.restoreAllMocks();
  await clock.advance(HOUR);
  await turns();
  expect(await things.listBackups()).toMatchObject([{ automatic: true, documents: 1 }]);
});

test('an import that is refused before its code comes rejects', async () => {
  const things = open();
  await things.insert({ _id: 'a' });
  const file = await things.exportBackup(await things.createBackup());
  const blob = await new Response(file).blob();
  await client.close();
  const { driver, fail } = stuckDriver();
  ({ client } = openClient(driver));
  const code = holdCode();
  const others = documents('others');
  const refused = expect(others.importBackup(blob)).rejects.toThrow('gone');
  // The request of the import, and that of its first part.
  await expect.poll(() => vi.mocked(parts.need).mock.calls.length).toBeGreaterThan(1);
  fail();
  await turns();
  code.come();
  await refused;
});

test('a close waits no longer than two seconds for the code of checkpoints', async () => {
  ({ client } = openClient(memoryDriver(), undefined, 1));
  const things = documents('things');
  const code = holdCode();
  await things.insert({ _id: 'a' });
  await things.save();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let isClosed = false;
  const closing = client.close().then(() => {
    isClosed = true;
  });
  while (vi.getTimerCount() === 0) await settled();
  expect(isClosed).toBe(false);
  vi.advanceTimersByTime(2000);
  await closing;
  vi.useRealTimers();
  code.come();
});
