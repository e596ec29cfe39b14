import type { StorageKey } from '../../storage/drivers/driver.ts';
import { type DriverCase, expectEqual, put } from './driver-bench.ts';

/** Keys in their order: numbers before strings, a prefix first, strings by UTF-16 code units. */
const ORDERED: readonly StorageKey[] = [
  ['p'],
  ['p', -1],
  ['p', 2],
  ['p', 2, 'x'],
  ['p', 10],
  ['p', ''],
  ['p', '10'],
  ['p', '2'],
  ['p', 'Z'],
  ['p', 'a'],
  ['p', 'é'],
  ['p', '\u{1F600}'],
  ['p', '\uFFFD'],
];

export const readCases: readonly DriverCase[] = [
  {
    name: 'kind names the driver',
    run: async ({ driver: { kind } }) =>
      expectEqual('kind is a text', typeof kind === 'string' && kind.length > 0, true),
  },
  {
    name: 'getMany returns values in the order of its keys, undefined for a missing one',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([put(['a', 1], { n: 1 }), put(['a', 2], { n: 2 })], 'relaxed');
      const keys = [2, 3, 1, 2].map((n): StorageKey => ['a', n]);
      const found = await storage.getMany('segments', keys);
      expectEqual('getMany', found, [{ n: 2 }, undefined, { n: 1 }, { n: 2 }]);
      expectEqual('getMany of no keys', await storage.getMany('segments', []), []);
    },
  },
  {
    name: 'list and keys order keys item by item: numbers before strings, a prefix first',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write(ORDERED.map((key, at) => put(key, { at })).reverse(), 'relaxed');
      const listed = await storage.list('segments', { prefix: ['p'], limit: 100 });
      const order = ORDERED.map((_, at) => ({ at }));
      expectEqual('list', listed, order);
      expectEqual('keys', await storage.keys('segments', ['p']), ORDERED);
      expectEqual('keys below a number', await storage.keys('segments', ['p', 2]), [
        ['p', 2],
        ['p', 2, 'x'],
      ]);
    },
  },
  {
    name: 'list takes a prefix, a limit and a key to continue after',
    run: async (bench) => {
      const storage = await bench.open();
      const wanted = [1, 2, 3, 4, 5].map((n) => put(['a', n], { n }));
      const others = ['', 'aa', 'a\0', 'b'].map((name) => put([name, 1], { name }));
      await storage.write([...wanted, ...others], 'relaxed');
      const list = (limit: number, after?: StorageKey) =>
        storage.list('segments', { prefix: ['a'], limit, after });
      const numbers = (...all: number[]) => all.map((n) => ({ n }));
      expectEqual('without a bound', await list(100), numbers(1, 2, 3, 4, 5));
      expectEqual('limit', await list(2), numbers(1, 2));
      expectEqual('after a key', await list(2, ['a', 2]), numbers(3, 4));
      expectEqual('after a key that is missing', await list(2, ['a', 4.5]), numbers(5));
      expectEqual('after the last key', await list(2, ['a', 5]), []);
      const none = await storage.list('segments', { prefix: ['none'], limit: 9 });
      expectEqual('a prefix without keys', none, []);
      expectEqual('keys', (await storage.keys('segments', ['a'])).length, 5);
    },
  },
  {
    name: 'stores are separate',
    run: async (bench) => {
      const storage = await bench.open();
      const key = ['same'];
      await storage.write([put(key, { in: 'segments' })], 'relaxed');
      expectEqual('another store', await storage.getMany('collections', [key]), [undefined]);
      const value = { in: 'collections' };
      await storage.write([{ type: 'put', store: 'collections', key, value }], 'strict');
      await storage.write([{ type: 'deletePrefix', store: 'segments', prefix: [] }], 'strict');
      expectEqual('the store kept', await storage.getMany('collections', [key]), [value]);
      expectEqual('the store emptied', await storage.getMany('segments', [key]), [undefined]);
    },
  },
  {
    name: 'two databases are separate',
    run: async (bench) => {
      const [one, other] = [await bench.open(), await bench.open()];
      await one.write([put(['a'], { n: 1 })], 'relaxed');
      expectEqual('the other', await other.getMany('segments', [['a']]), [undefined]);
    },
  },
  {
    name: 'values survive a reopening',
    run: async (bench) => {
      const name = bench.newName();
      const first = await bench.open(name);
      await first.write([put(['a', 1], { n: 1 })], 'strict');
      await first.close();
      const second = await bench.open(name);
      expectEqual('reopened', await second.getMany('segments', [['a', 1]]), [{ n: 1 }]);
    },
  },
  {
    name: 'names of databases and keys may have any characters',
    run: async (bench) => {
      for (const name of [
        '',
        '💾',
        'a/b:c"\\',
        'x'.repeat(128),
        '\0',
        '../up',
        'CON',
        'é e\u0301',
      ]) {
        const storage = await bench.open(`${bench.newName()}${name}`);
        await storage.write([put([name, 1], { name })], 'relaxed');
        const found = await storage.list('segments', { prefix: [name], limit: 9 });
        expectEqual(`the key ${JSON.stringify(name)}`, found, [{ name }]);
      }
    },
  },
];
