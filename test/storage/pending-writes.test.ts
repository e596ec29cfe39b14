import { afterEach, describe, expect, test, vi } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { Database, memoryDriver, type StorageDriver } from '../../src/index.ts';
import type { Storage, StorageOperation } from '../../src/storage/drivers/driver.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';

const events = { damaged: () => undefined };
const key = new Uint8Array(32).fill(7);
const MS = 30;

let opened: Storage[] = [];
let names = 0;

async function open(driver: StorageDriver, name = `pending ${++names} ${Math.random()}`) {
  const storage = await driver.open(name, events);
  opened.push(storage);
  return storage;
}

afterEach(async () => {
  for (const storage of opened) await storage.close();
  opened = [];
});

const put = (number: number, value: object): StorageOperation => ({
  ...{ type: 'put', store: 'segments', key: ['a', number], value },
});
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const all = (storage: Storage) => storage.list('segments', { prefix: ['a'], limit: 1000 });

describe('operations that are computed while a transaction of IndexedDB runs', () => {
  async function later(number: number, ms: number): Promise<StorageOperation> {
    await wait(ms);
    return put(number, { number });
  }

  test('are applied in their order, however long each takes', async () => {
    const storage = await open(indexedDbDriver());
    const operations = [
      later(1, MS),
      later(2, 1),
      Promise.resolve(put(3, { number: 3 })),
      later(1, 2 * MS).then(() => put(1, { number: 'newer' as never })),
    ];
    await storage.writePending?.(operations, 'relaxed');
    expect(await all(storage)).toEqual([{ number: 'newer' }, { number: 2 }, { number: 3 }]);
  });

  test('block later reads, and are seen by them', async () => {
    const storage = await open(indexedDbDriver());
    const writing = storage.writePending?.([later(1, MS), later(2, MS)], 'relaxed');
    expect(await all(storage)).toHaveLength(2);
    await writing;
  });

  test('are all given up when one fails', async () => {
    const storage = await open(indexedDbDriver());
    await storage.write([put(1, { number: 'old' })], 'relaxed');
    const failing = wait(MS).then(() => Promise.reject(new Error('not computed')));
    failing.catch(() => undefined);
    const operations = [later(1, 1), later(2, 1), failing, later(3, 1)];
    await expect(storage.writePending?.(operations, 'relaxed')).rejects.toThrow('not computed');
    expect(await all(storage)).toEqual([{ number: 'old' }]);
    await storage.write([put(2, { number: 2 })], 'relaxed');
    expect(await all(storage)).toHaveLength(2);
  });

  test('are given up when one takes too long: later writes do not wait for them', async () => {
    const storage = await open(indexedDbDriver());
    await storage.write([put(1, { number: 'old' })], 'relaxed');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const never = new Promise<StorageOperation>(() => undefined);
      const operations = [Promise.resolve(put(1, { number: 1 })), never];
      const outcome = storage.writePending?.(operations, 'relaxed').catch(({ code }) => code);
      await vi.advanceTimersByTimeAsync(61_000);
      expect(await outcome).toBe('storage_timeout');
    } finally {
      vi.useRealTimers();
    }
    expect(await all(storage)).toEqual([{ number: 'old' }]);
  });
});

describe.each([
  ['IndexedDB, sealed while its transaction runs', () => encrypted('indexeddb', { key })],
  ['memory, sealed before', () => encrypted(memoryDriver(), { key })],
] as const)('a large encrypted write to %s', (_title, make) => {
  const COUNT = 40;
  const value = (number: number, text: string) => ({ number, text: text.repeat(50_000) });

  function* values(text: string, failsAt = Number.POSITIVE_INFINITY): Generator<StorageOperation> {
    for (let number = 1; number <= COUNT; number++) {
      if (number === failsAt) throw new Error('no more');
      yield put(number, value(number, text));
    }
  }

  const texts = async (storage: Storage) =>
    new Set(((await all(storage)) as { text: string }[]).map(({ text }) => text[0]));

  test('is whole, is seen by later reads, and does not overtake an earlier one', async () => {
    const storage = await open(make());
    const first = storage.write(values('a'), 'relaxed');
    const second = storage.write(values('b'), 'relaxed');
    expect(await texts(storage)).toEqual(new Set(['b']));
    await Promise.all([first, second]);
    const found = (await all(storage)) as { number: number }[];
    expect(found.map(({ number }) => number)).toEqual(
      Array.from({ length: COUNT }, (_, n) => n + 1),
    );
  });

  test('applies nothing when its generator throws, and later writes succeed', async () => {
    const storage = await open(make());
    await storage.write(values('a'), 'relaxed');
    await expect(storage.write(values('b', COUNT - 1), 'relaxed')).rejects.toThrow('no more');
    expect(await texts(storage)).toEqual(new Set(['a']));
    await storage.write(values('c'), 'relaxed');
    expect(await texts(storage)).toEqual(new Set(['c']));
  });
});

test('an encrypted write reads its Blobs one after the other', async () => {
  const storage = await open(encrypted('indexeddb', { key }));
  const real = Blob.prototype.arrayBuffer;
  let [reading, most] = [0, 0];
  const spy = vi.spyOn(Blob.prototype, 'arrayBuffer').mockImplementation(async function (
    this: Blob,
  ) {
    most = Math.max(most, ++reading);
    await wait(5);
    const content = await real.call(this);
    reading--;
    return content;
  });
  const numbers = [1, 2, 3, 4, 5];
  const texts = numbers.map((number) => `content ${number}`);
  const puts = numbers.map((number) => put(number, { blob: new Blob([`content ${number}`]) }));
  await storage.write(puts, 'relaxed');
  spy.mockRestore();
  expect(most).toBe(1);
  const found = (await all(storage)) as { blob: Blob }[];
  expect(await Promise.all(found.map(({ blob }) => blob.text()))).toEqual(texts);
});

test('encrypted segments stay below the size from which Chromium stores values in files', async () => {
  const sizes: number[] = [];
  const inner = memoryDriver();
  const measuring: StorageDriver = {
    kind: 'measuring',
    open: async (name, given) => {
      const storage = await inner.open(name, given);
      const write: Storage['write'] = (operations, durability) => {
        const list = [...operations];
        for (const operation of list) if (operation.type === 'put') sizes.push(operation.size ?? 0);
        return storage.write(list, durability);
      };
      return {
        ...{ write, close: () => storage.close() },
        getMany: (...given) => storage.getMany(...given),
        list: (...given) => storage.list(...given),
        keys: (...given) => storage.keys(...given),
      };
    },
  };
  const name = `sizes ${Math.random()}`;
  const storage = encrypted(measuring, { key });
  const open = () => {
    const db = new Database({ name, storage });
    return {
      db,
      rows: new db.Collection({ name: 'rows', type: 'DOCUMENT_BASED', indexes: ['n'] }),
    };
  };
  const { db, rows } = open();
  const text = 'as long as a note in an app, or a message in a chat';
  await rows.insertMany(Array.from({ length: 5000 }, (_, n) => ({ n, text })));
  await rows.save();
  await db.close();
  expect(Math.max(...sizes)).toBeLessThan(64 * 1024);
  // As large as they may be: small ones would be merged again.
  expect(Math.max(...sizes)).toBeGreaterThan(32 * 1024);
  const again = open();
  expect(await again.rows.count({ n: { $gte: 2500 } })).toBe(2500);
  await again.db.close();
});
