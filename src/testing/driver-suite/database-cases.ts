import { DATABASE_ID, databaseIdOf } from '../../storage/drivers/database-id.ts';
import {
  STORE_NAMES,
  type Storage,
  type StorageKey,
  type StorageOperation,
} from '../../storage/drivers/driver.ts';
import {
  type DriverBench,
  type DriverCase,
  expectEqual,
  expectRejection,
  listAll,
  put,
} from './driver-bench.ts';

const DESTROYED = 'database_destroyed';

const idOf = async (storage: Storage) =>
  databaseIdOf((await storage.getMany('leadership', [DATABASE_ID]))[0]);

/** @throws {Error} where the driver has no `delete`. */
async function deleteDatabase({ driver }: DriverBench, name: string): Promise<void> {
  if (!driver.delete) throw new Error('The driver has no delete().');
  await driver.delete(name);
}

export const deleteCases: readonly DriverCase[] = [
  {
    needs: 'delete',
    name: 'delete() leaves nothing of a database, and nothing of others is gone',
    run: async (bench) => {
      const [name, otherName] = [bench.newName(), bench.newName()];
      const [storage, other] = [await bench.open(name), await bench.open(otherName)];
      for (const one of [storage, other]) {
        await one.write([put(['a'], { n: 1 })], 'relaxed');
        const key = ['client', 1];
        await one.write([{ type: 'put', store: 'recovery', key, value: { n: 1 } }], 'relaxed');
      }
      await storage.close();
      await deleteDatabase(bench, name);
      const anew = await bench.open(name);
      for (const store of STORE_NAMES)
        if (store !== 'leadership') expectEqual(store, await anew.keys(store, []), []);
      expectEqual('the epoch', await anew.getMany('leadership', [['epoch']]), [undefined]);
      expectEqual('the other', await listAll(other), [{ n: 1 }]);
    },
  },
  {
    needs: 'delete',
    name: 'delete() of a database that is open ends it: later calls reject with database_destroyed',
    run: async (bench) => {
      const name = bench.newName();
      const storage = await bench.open(name);
      await storage.write([put(['a'], { n: 1 })], 'relaxed');
      await deleteDatabase(bench, name);
      await expectRejection('write', storage.write([put(['b'], { n: 2 })], 'relaxed'), DESTROYED);
      const anew = await bench.open(name);
      await expectRejection('getMany', storage.getMany('segments', [['a']]), DESTROYED);
      await expectRejection('write', storage.write([put(['c'], { n: 3 })], 'relaxed'), DESTROYED);
      expectEqual('what is stored anew', await listAll(anew), []);
    },
  },
  {
    needs: 'delete',
    name: 'delete() of a database that does not exist does nothing',
    run: async (bench) => {
      const name = bench.newName();
      await deleteDatabase(bench, name);
      await deleteDatabase(bench, name);
      expectEqual('what is stored', await listAll(await bench.open(name)), []);
    },
  },
  {
    needs: 'has',
    name: 'has() tells whether there is a database, and makes none',
    run: async (bench) => {
      const { driver } = bench;
      const name = bench.newName();
      for (const round of ['first', 'second'])
        expectEqual(`has() at first, ${round} call`, await driver.has?.(name), false);
      const storage = await bench.open(name);
      expectEqual('has() while it is open', await driver.has?.(name), true);
      await storage.close();
      expectEqual('has() once it is closed', await driver.has?.(name), true);
      if (!driver.delete) return;
      await driver.delete(name);
      expectEqual('has() once it is deleted', await driver.has?.(name), false);
    },
  },
  {
    needs: 'delete',
    name: 'a database has an id, and another one after delete()',
    run: async (bench) => {
      const name = bench.newName();
      const storage = await bench.open(name);
      const id = await idOf(storage);
      expectEqual('there is an id', id !== '', true);
      expectEqual('the same for others', await idOf(await bench.open(name)), id);
      await deleteDatabase(bench, name);
      expectEqual('another', (await idOf(await bench.open(name))) !== id, true);
    },
  },
];

const KEY: StorageKey = ['epoch'];
const TAKEN = 'database_taken';

const check = (epoch: number): StorageOperation => ({
  ...{ type: 'check', store: 'leadership', key: KEY, epoch },
});
const claim = (epoch: number, token: string): StorageOperation => ({
  ...{ type: 'claim', store: 'leadership', key: KEY, epoch, claim: token },
});
const setEpoch = (epoch: number): StorageOperation => ({
  ...{ type: 'put', store: 'leadership', key: KEY, value: { epoch } },
});

const leader = async (storage: Storage) => (await storage.getMany('leadership', [KEY]))[0];

/** Writes a batch with this operation at each index: each must be refused. */
async function expectRefusal(
  storage: Storage,
  operation: StorageOperation,
  batch: readonly StorageOperation[],
): Promise<void> {
  for (let at = 0; at <= batch.length; at++) {
    const operations = [...batch.slice(0, at), operation, ...batch.slice(at)];
    const what = `${JSON.stringify(operation)} at index ${at}`;
    await expectRejection(what, storage.write(operations, 'relaxed'), TAKEN);
  }
}

/** Of two writes at the same time, one must be refused. */
async function expectOneRefusal(writes: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(writes)).filter((one) => 'reason' in one);
  expectEqual('refused writes', failed.length, 1);
  for (const { reason } of failed) await expectRejection('it', Promise.reject(reason), TAKEN);
}

const CHANGES: readonly StorageOperation[] = [
  put(['new'], { n: 1 }),
  { type: 'delete', store: 'segments', key: ['old'] },
  { type: 'deletePrefix', store: 'segments', prefix: [] },
];

export const epochCases: readonly DriverCase[] = [
  {
    name: 'check lets a batch pass if the epoch matches, 0 for a new database',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([check(0), setEpoch(1), put(['a'], { n: 1 })], 'relaxed');
      await storage.write([put(['b'], { n: 2 }), check(1)], 'relaxed');
      expectEqual('what is stored', await listAll(storage), [{ n: 1 }, { n: 2 }]);
    },
  },
  {
    name: 'check of another epoch applies nothing of the batch, at any index in it',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([setEpoch(2), put(['old'], { n: 1 })], 'relaxed');
      for (const epoch of [0, 1, 3]) await expectRefusal(storage, check(epoch), CHANGES);
      expectEqual('what is stored', await listAll(storage), [{ n: 1 }]);
      expectEqual('the epoch', await leader(storage), { epoch: 2 });
    },
  },
  {
    name: 'check sees the writes of other connections up to its batch',
    run: async (bench) => {
      const name = bench.newName();
      const [one, other] = [await bench.open(name), await bench.open(name)];
      const first = [check(0), setEpoch(1)];
      await expectOneRefusal([one, other].map((storage) => storage.write(first, 'strict')));
      await expectRejection('an old check', other.write([check(0)], 'relaxed'), TAKEN);
      const next = [check(1), setEpoch(2)];
      await one.write(next, 'relaxed');
      await expectRejection('the same again', other.write(next, 'relaxed'), TAKEN);
    },
  },
  {
    name: 'check that fails leaves the writes behind it alone',
    run: async (bench) => {
      const storage = await bench.open();
      const refused = storage.write([check(5), put(['a'], { n: 1 })], 'relaxed');
      const accepted = storage.write([put(['b'], { n: 2 })], 'relaxed');
      await expectRejection('the check', refused, TAKEN);
      await accepted;
      expectEqual('what is stored', await listAll(storage), [{ n: 2 }]);
    },
  },
  {
    name: 'claim stores the next epoch, 1 for a new database',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([claim(1, 'a'), put(['a'], { n: 1 })], 'relaxed');
      expectEqual('the first', await leader(storage), { epoch: 1, claim: 'a' });
      await storage.write([claim(2, 'b')], 'relaxed');
      expectEqual('the second', await leader(storage), { epoch: 2, claim: 'b' });
      expectEqual('what is stored', await listAll(storage), [{ n: 1 }]);
    },
  },
  {
    name: 'claim may be repeated',
    run: async (bench) => {
      const storage = await bench.open();
      const writes = [1, 2, 3].map((n) =>
        storage.write([claim(1, 'a'), put(['n', n], { n })], 'relaxed'),
      );
      await Promise.all(writes);
      await storage.write([put(['n', 4], { n: 4 }), claim(1, 'a')], 'strict');
      expectEqual('what is stored', (await listAll(storage)).length, 4);
      expectEqual('the epoch', await leader(storage), { epoch: 1, claim: 'a' });
    },
  },
  {
    name: 'claim applies nothing of the batch if another leader has this epoch or a later one',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([claim(1, 'a')], 'relaxed');
      await storage.write([claim(2, 'b'), put(['old'], { n: 1 })], 'relaxed');
      for (const refused of [claim(1, 'a'), claim(1, 'b'), claim(2, 'a'), claim(4, 'b')])
        await expectRefusal(storage, refused, CHANGES);
      expectEqual('what is stored', await listAll(storage), [{ n: 1 }]);
      expectEqual('the epoch', await leader(storage), { epoch: 2, claim: 'b' });
    },
  },
  {
    name: 'claim of one epoch succeeds for one of two connections',
    run: async (bench) => {
      const name = bench.newName();
      const [one, other] = [await bench.open(name), await bench.open(name)];
      await expectOneRefusal([
        one.write([claim(1, 'one'), put(['one'], { n: 1 })], 'strict'),
        other.write([claim(1, 'other'), put(['other'], { n: 2 })], 'strict'),
      ]);
      expectEqual('what is stored', (await listAll(other)).length, 1);
    },
  },
];
