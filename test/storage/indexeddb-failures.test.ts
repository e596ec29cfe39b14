import { afterEach, expect, test, vi } from 'vitest';
import type { StorageError } from '../../src/errors/errors.ts';
import { PageUnloadWriter } from '../../src/page/unload/recovery-record.ts';
import type { Storage, StorageOperation } from '../../src/storage/drivers/driver.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let names = 0;
const freshName = () => `indexeddb failures ${++names} ${Math.random()}`;
const damages: StorageError[] = [];
const events = { damaged: (error: StorageError) => void damages.push(error) };
const open = (name = freshName()): Promise<Storage> => indexedDbDriver().open(name, events);
const put = (n: number): StorageOperation[] => [
  { type: 'put', store: 'segments', key: ['a'], value: { n } },
];

/** Makes `transaction()` of every connection throw `times` times. */
function failTransactions(times: number, name: string): { calls: () => number } {
  const real = IDBDatabase.prototype.transaction;
  let left = times;
  const spy = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
    this: IDBDatabase,
    ...given
  ) {
    if (left-- > 0) throw new DOMException('The test stands in the way.', name);
    return real.apply(this, given);
  });
  return { calls: () => spy.mock.calls.length };
}

/** Makes `indexedDB.open` fail. */
function failToOpen(name: string): void {
  vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
    throw new DOMException('The test does not let you.', name);
  });
}

/** A request that never answers. */
function silentRequest(): IDBRequest {
  const listeners = { addEventListener: () => undefined, removeEventListener: () => undefined };
  return Object.assign(Object.create(IDBRequest.prototype), listeners);
}

test('a dead connection is reopened, and the call retried once', async () => {
  const storage = await open();
  await storage.write(put(1), 'relaxed');
  failTransactions(1, 'InvalidStateError');
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 1 }]);
  vi.restoreAllMocks();
  failTransactions(1, 'InvalidStateError');
  const drawn: number[] = [];
  function* operations(): Generator<StorageOperation> {
    drawn.push(1);
    yield* put(2);
  }
  await storage.write(operations(), 'relaxed');
  expect(drawn).toEqual([1]);
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 2 }]);
  await storage.close();
});

test('a connection dead twice is storage_lost', async () => {
  const storage = await open();
  const { calls } = failTransactions(9, 'InvalidStateError');
  await expect(storage.write(put(1), 'relaxed')).rejects.toMatchObject({
    name: 'StorageError',
    code: 'storage_lost',
    cause: { name: 'InvalidStateError' },
  });
  expect(calls()).toBe(2);
  vi.restoreAllMocks();
  await storage.write(put(1), 'relaxed');
  await storage.close();
});

test('concurrent calls on a dead connection do not interrupt each other', async () => {
  const storage = await open();
  await storage.write(put(1), 'relaxed');
  failTransactions(3, 'InvalidStateError');
  const reads = [1, 2, 3].map(() => storage.getMany('segments', [['a']]));
  expect(await Promise.all(reads)).toEqual([[{ n: 1 }], [{ n: 1 }], [{ n: 1 }]]);
  await storage.close();
});

test("WebKit's lost connection is storage_lost, other failures are not retried", async () => {
  const storage = await open();
  const lost = vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(() => {
    throw new DOMException('Connection to Indexed Database server lost', 'UnknownError');
  });
  await expect(storage.list('segments', { prefix: [], limit: 1 })).rejects.toMatchObject({
    code: 'storage_lost',
  });
  expect(lost).toHaveBeenCalledTimes(2);
  vi.restoreAllMocks();
  const { calls } = failTransactions(9, 'NotFoundError');
  await expect(storage.list('segments', { prefix: [], limit: 1 })).rejects.toMatchObject({
    code: 'storage_failed',
    cause: { name: 'NotFoundError' },
  });
  expect(calls()).toBe(1);
  await storage.close();
});

test('a full disk, reported by an abort after all puts succeeded, is storage_full', async () => {
  const storage = await open();
  await storage.write(put(1), 'relaxed');
  // Chromium: `commit()` ends in an abort with the reason.
  const error = new DOMException('Encountered full disk', 'QuotaExceededError');
  vi.spyOn(IDBTransaction.prototype, 'commit').mockImplementation(function (this: IDBTransaction) {
    Object.defineProperty(this, 'error', { get: () => error, set: () => undefined });
    this.abort();
  });
  await expect(storage.write(put(2), 'relaxed')).rejects.toMatchObject({
    code: 'storage_full',
    cause: error,
  });
  vi.restoreAllMocks();
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 1 }]);
  await storage.write(put(3), 'relaxed');
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 3 }]);
  await storage.close();
});

test('a refused put is reported and rolls back its batch', async () => {
  const storage = await open();
  const refused = { type: 'put', store: 'segments', key: ['b'], value: { f: () => 1 } } as const;
  await expect(storage.write([...put(1), refused], 'relaxed')).rejects.toMatchObject({
    code: 'storage_failed',
    cause: { name: 'DataCloneError' },
  });
  expect(await storage.getMany('segments', [['a']])).toEqual([undefined]);
  await storage.close();
});

test('a database of a newer version is format_newer', async () => {
  const name = freshName();
  await new Promise((resolve, reject) => {
    const request = indexedDB.open(`cairn:${name}`, 99);
    request.onerror = reject;
    request.onsuccess = () => resolve(request.result.close());
  });
  await expect(open(name)).rejects.toMatchObject({
    code: 'format_newer',
    cause: { name: 'VersionError' },
  });
});

test.each(['SecurityError', 'InvalidStateError'])(
  'an open that ends in %s is storage_unavailable',
  async (name) => {
    failToOpen(name);
    await expect(open()).rejects.toMatchObject({ code: 'storage_unavailable', cause: { name } });
  },
);

test('a full disk at open is storage_full', async () => {
  failToOpen('QuotaExceededError');
  await expect(open()).rejects.toMatchObject({ code: 'storage_full' });
});

test('an open that never answers is storage_timeout', async () => {
  vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(
    () => silentRequest() as IDBOpenDBRequest,
  );
  vi.useFakeTimers();
  const opening = open().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(await Promise.race([opening, 'waiting'])).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  expect(await opening).toMatchObject({ name: 'StorageError', code: 'storage_timeout' });
});

test('a transaction that never ends is storage_timeout, and the next call gets a new connection', async () => {
  const storage = await open();
  await storage.write(put(1), 'relaxed');
  vi.spyOn(IDBObjectStore.prototype, 'get').mockImplementation(silentRequest);
  vi.useFakeTimers();
  const reading = storage.getMany('segments', [['a']]).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_001);
  expect(await reading).toMatchObject({ code: 'storage_timeout' });
  vi.useRealTimers();
  vi.restoreAllMocks();
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 1 }]);
  await storage.close();
});

test('a database deleted by another connection is not created again by the next call', async () => {
  const name = freshName();
  const storage = await open(name);
  await storage.write(put(1), 'relaxed');
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(`cairn:${name}`);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
  const destroyed = { code: 'database_destroyed' };
  await expect(storage.getMany('segments', [['a']])).rejects.toMatchObject(destroyed);
  await expect(storage.write(put(2), 'relaxed')).rejects.toMatchObject(destroyed);
  await storage.close();
  const anew = await open(name);
  expect(await anew.getMany('segments', [['a']])).toEqual([undefined]);
  await anew.close();
});

test('an eviction by the browser is reported, not taken for an empty database', async () => {
  damages.length = 0;
  Object.defineProperty(IDBVersionChangeEvent.prototype, 'dataLoss', {
    configurable: true,
    get: () => 'total',
  });
  try {
    const storage = await open();
    expect(damages).toMatchObject([{ name: 'StorageError', code: 'data_damaged' }]);
    await storage.close();
  } finally {
    Reflect.deleteProperty(IDBVersionChangeEvent.prototype, 'dataLoss');
  }
});

test('a new database reports no eviction', async () => {
  damages.length = 0;
  await (await open()).close();
  expect(damages).toEqual([]);
});

test('an open behind a blocked deletion is storage_timeout, and works once the blocking tab is gone', async () => {
  const name = freshName();
  const holder = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(`cairn:${name}`, 1);
    request.onerror = reject;
    request.onsuccess = () => resolve(request.result);
  });
  const deleted = new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(`cairn:${name}`);
    request.onerror = () => reject(request.error);
    request.onsuccess = () => resolve();
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const opening = open(name).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(10_001);
  expect(await opening).toMatchObject({ code: 'storage_timeout' });
  vi.useRealTimers();
  holder.close();
  await deleted;
  const storage = await open(name);
  await storage.write(put(1), 'relaxed');
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 1 }]);
  await storage.close();
});

test('a page that opens the database first leaves its creation to the engine', async () => {
  const name = freshName();
  const page = new PageUnloadWriter(name);
  page.prepare();
  const storage = await open(name);
  await storage.write(put(1), 'relaxed');
  expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 1 }]);
  page.close();
  await storage.close();
});
