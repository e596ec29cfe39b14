import { DATABASE_ID, databaseIdOf } from '../../storage/drivers/database-id.ts';
import { STORE_NAMES, type Storage } from '../../storage/drivers/driver.ts';
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
