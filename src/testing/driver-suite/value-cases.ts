import { sameValue } from '../../codec/same-value.ts';
import type { StorageKey, StorageOperation } from '../../storage/drivers/driver.ts';
import { type DriverCase, expectEqual, expectRejection, listAll, put } from './driver-bench.ts';

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

/** Every kind of value that the engine stores. */
const VALUE = {
  string: 'a\uD800b\u{1F600}',
  numbers: [0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1e-7],
  bigint: 2n ** 70n,
  nothing: undefined,
  date: new Date(12),
  pattern: /a+/gi,
  map: new Map<unknown, unknown>([[{ key: 1 }, new Set([1, 'a'])]]),
  bytes: new Uint8Array([1, 2, 3]),
  floats: new Float64Array([1.5, Number.NaN]),
  buffer: new Uint8Array([9, 8]).buffer,
  // biome-ignore lint/suspicious/noSparseArray: the hole is under test
  sparse: [1, , 3],
};

export const writeCases: readonly DriverCase[] = [
  {
    name: 'a batch applies its steps in order',
    run: async (bench) => {
      const storage = await bench.open();
      const operations: StorageOperation[] = [
        put(['a', 1], { n: 1 }),
        { type: 'delete', store: 'segments', key: ['a', 1] },
        put(['a', 2], { n: 2 }),
        { type: 'deletePrefix', store: 'segments', prefix: ['a'] },
        put(['a', 3], { n: 3 }),
        put(['a', 3], { n: 4 }),
        { type: 'delete', store: 'segments', key: ['never there'] },
      ];
      await storage.write(operations, 'relaxed');
      expectEqual('the result', await listAll(storage), [{ n: 4 }]);
    },
  },
  {
    name: 'deletions of adjacent keys leave all others',
    run: async (bench) => {
      const storage = await bench.open();
      const all: StorageKey[] = ['a', 'aa'].flatMap((name) => [
        ...[1, 2, 3, 4, 9, 10, 11].map((number) => [name, number]),
        ...['3', 'last'].map((text) => [name, text]),
      ]);
      await storage.write(
        all.map((key) => put(key, { key })),
        'relaxed',
      );
      const deleted = [
        ['a', 2],
        ['a', 3],
        ['a', 4],
        ['a', 10],
        ['aa', 11],
        ['a', 9],
      ];
      const isDeleted = (key: StorageKey) => deleted.some((one) => one.join() === key.join());
      const deletions = deleted.map((key) => ({ type: 'delete', store: 'segments', key }) as const);
      // A text is no number, nor next to one.
      await storage.write([...deletions, put(['a', 3], { key: 'new' })], 'relaxed');
      const left = all.filter((key) => key.join() === 'a,3' || !isDeleted(key));
      const values = left.map((key) => (key[1] === 3 && key[0] === 'a' ? { key: 'new' } : { key }));
      expectEqual('the values left', await listAll(storage), values);
    },
  },
  {
    name: 'deletePrefix compares whole items of keys, not their text',
    run: async (bench) => {
      const storage = await bench.open();
      const puts = ['a', 'a.', 'aa', 'A', ''].flatMap((name) => [
        put([name, 1], { name }),
        put([name, 2], { name }),
      ]);
      await storage.write(puts, 'relaxed');
      await storage.write([{ type: 'deletePrefix', store: 'segments', prefix: ['a'] }], 'relaxed');
      const names = (await listAll(storage)).map((value) => (value as { name: string }).name);
      expectEqual('the names left', names, ['', '', 'A', 'A', 'a.', 'a.', 'aa', 'aa']);
    },
  },
  {
    name: 'a batch whose generator throws applies nothing',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([put(['a'], { n: 'old' })], 'relaxed');
      function* failing(): Generator<StorageOperation> {
        yield put(['a'], { n: 'new' });
        yield { type: 'delete', store: 'segments', key: ['a'] };
        // Large enough to be sent while the generator still runs.
        yield put(['b'], { size: 10_000_000 });
        yield put(['c'], { n: 'new' });
        throw new Error('no more');
      }
      const failure = await storage.write(failing(), 'relaxed').then(
        () => undefined,
        (error: unknown) => error,
      );
      const hasReason = String(failure).includes('no more');
      expectEqual('the error names that of the generator', hasReason, true);
      expectEqual('what is stored', await listAll(storage), [{ n: 'old' }]);
      await storage.write([put(['b'], { n: 'later' })], 'relaxed');
      expectEqual('a later write', await storage.getMany('segments', [['b']]), [{ n: 'later' }]);
    },
  },
  {
    name: 'a batch draws each step once, in order',
    run: async (bench) => {
      const storage = await bench.open();
      const drawn: number[] = [];
      const numbers = Array.from({ length: 40 }, (_, n) => n);
      function* operations(): Generator<StorageOperation> {
        for (const n of numbers) {
          drawn.push(n);
          yield { ...put(['n', n], { n }), size: 100_000 } as StorageOperation;
        }
      }
      await storage.write(operations(), 'relaxed');
      expectEqual('the steps', drawn, numbers);
      expectEqual('what is stored', (await listAll(storage)).length, 40);
    },
  },
  {
    name: 'an empty batch is accepted',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([], 'strict');
      expectEqual('what is stored', await listAll(storage), []);
    },
  },
  {
    name: 'a write is seen by later reads, awaited or not',
    run: async (bench) => {
      const storage = await bench.open();
      const writes = Array.from({ length: 20 }, (_, n) =>
        storage.write([put(['last'], { n })], 'relaxed'),
      );
      const read = storage.getMany('segments', [['last']]);
      await Promise.all(writes);
      expectEqual('the read', await read, [{ n: 19 }]);
    },
  },
  {
    name: 'a batch on recovery, in an array, is applied beside other writes',
    run: async (bench) => {
      const storage = await bench.open();
      const key = ['client', 1];
      const record: StorageOperation = { type: 'put', store: 'recovery', key, value: { n: 1 } };
      await Promise.all([
        storage.write([put(['a'], { n: 1 })], 'relaxed'),
        storage.write([record], 'strict'),
      ]);
      expectEqual('the record', await storage.getMany('recovery', [key]), [{ n: 1 }]);
      await storage.write([{ type: 'delete', store: 'recovery', key }], 'relaxed');
      expectEqual('deleted', await storage.keys('recovery', []), []);
    },
  },
  {
    name: 'values come back as structured clone keeps them',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.write([put(['value'], VALUE)], 'relaxed');
      const [stored] = await storage.getMany('segments', [['value']]);
      for (const [kind, value] of Object.entries(VALUE))
        expectEqual(kind, (stored as Record<string, unknown> | undefined)?.[kind], value);
    },
  },
  {
    name: 'a large value comes back whole',
    run: async (bench) => {
      const storage = await bench.open();
      const bytes = new Uint8Array(1_000_000).map((_, at) => at % 251);
      const large = { ...put(['large'], { bytes }), size: bytes.length } as StorageOperation;
      await storage.write([large, put(['small'], { n: 1 })], 'relaxed');
      const [stored] = await storage.getMany('segments', [['large']]);
      // Not expectEqual of both: its message would have all bytes.
      expectEqual('the value is the same', sameValue(stored, { bytes }), true);
    },
  },
  {
    name: 'close() makes every later call reject with storage_lost, and may be repeated',
    run: async (bench) => {
      const storage = await bench.open();
      await storage.close();
      const lost = 'storage_lost';
      await expectRejection('getMany', storage.getMany('segments', [['a']]), lost);
      await expectRejection('list', storage.list('segments', { prefix: [], limit: 1 }), lost);
      await expectRejection('keys', storage.keys('segments', []), lost);
      await expectRejection('write', storage.write([put(['a'], {})], 'relaxed'), lost);
      await storage.close();
    },
  },
];
