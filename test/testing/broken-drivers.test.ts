import { expect, test } from 'vitest';
import {
  memoryDriver,
  type Storage,
  type StorageDriver,
  type StorageOperation,
} from '../../src/index.ts';
import { storageDriverCases } from '../../src/testing/index.ts';

/** A memory driver with one mistake. */
function broken(mistake: (storage: Storage) => Partial<Storage>): StorageDriver {
  const memory = memoryDriver();
  return {
    kind: 'broken',
    open: async (...args) => {
      const storage = await memory.open(...args);
      const right: Storage = {
        getMany: (...rest) => storage.getMany(...rest),
        list: (...rest) => storage.list(...rest),
        keys: (...rest) => storage.keys(...rest),
        write: (...rest) => storage.write(...rest),
        close: () => storage.close(),
      };
      return { ...right, ...mistake(storage) };
    },
  };
}

/** The tests of the suite that a driver fails. */
async function failures(driver: StorageDriver): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, needs, run } of storageDriverCases) {
    if (needs && !driver[needs]) continue;
    await run(driver).catch(() => failed.push(name));
  }
  return failed;
}

const isChange = ({ type }: StorageOperation) => type !== 'check' && type !== 'claim';

test.each([
  [
    'writes each step by itself',
    'a batch whose generator throws applies nothing',
    broken((storage) => ({
      write: async (operations, durability) => {
        for (const operation of operations) await storage.write([operation], durability);
      },
    })),
  ],
  [
    'ignores the fence',
    'check of another epoch applies nothing of the batch, at any index in it',
    broken((storage) => ({
      write: (operations, durability) =>
        storage.write(Array.from(operations).filter(isChange), durability),
    })),
  ],
  [
    'stores JSON',
    'values come back as structured clone keeps them',
    broken((storage) => ({
      getMany: async (store, keys) =>
        (await storage.getMany(store, keys)).map((value) =>
          value === undefined
            ? undefined
            : JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? 0 : part))),
        ),
    })),
  ],
  [
    'orders keys as text',
    'list and keys order keys item by item: numbers before strings, a prefix first',
    broken((storage) => ({
      keys: async (store, prefix) =>
        (await storage.keys(store, prefix)).sort((a, b) => (a.join() < b.join() ? -1 : 1)),
    })),
  ],
  [
    'acknowledges a write before it has applied it',
    'a write is seen by later reads, awaited or not',
    broken((storage) => ({
      write: async (operations, durability) => {
        const drawn = [...operations];
        void new Promise((resolve) => setImmediate(resolve)).then(() =>
          storage.write(drawn, durability).catch(() => undefined),
        );
      },
    })),
  ],
  [
    'answers after close()',
    'close() makes every later call reject with storage_lost, and may be repeated',
    broken(() => ({ close: async () => undefined })),
  ],
  [
    'deletes nothing',
    'delete() leaves nothing of a database, and nothing of others is gone',
    { ...memoryDriver(), delete: async () => undefined },
  ],
  [
    'forgets what it has stored',
    'values survive a reopening',
    { kind: 'broken', open: (...args) => memoryDriver().open(...args) },
  ],
] as [string, string, StorageDriver][])(
  'a driver that %s fails the suite',
  async (_, name, driver) => {
    expect(await failures(driver)).toContain(name);
  },
);

test('a driver without a mistake passes', async () => {
  expect(await failures(broken(() => ({})))).toEqual([]);
});
