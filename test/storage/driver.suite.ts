import { describe, expect, test } from 'vitest';
import type {
  Storage,
  StorageDriver,
  StorageKey,
  StorageOperation,
} from '../../src/storage/drivers/driver.ts';

const silent = { damaged: () => undefined };

function put(key: StorageKey, value: object): StorageOperation {
  return { type: 'put', store: 'segments', key, value };
}

let names = 0;
const freshName = () => `driver suite ${++names} ${Math.random()}`;

/** The contract of a storage driver. */
export function describeDriver(title: string, driver: StorageDriver): void {
  const fresh = (): Promise<Storage> => driver.open(freshName(), silent);

  describe(title, () => {
    test('says what kind it is', () => {
      expect(driver.kind).toMatch(/./);
    });

    test('getMany returns values in order of its keys, undefined for a missing one', async () => {
      const storage = await fresh();
      await storage.write([put(['a', 1], { n: 1 }), put(['a', 2], { n: 2 })], 'relaxed');
      const keys: StorageKey[] = [
        ['a', 2],
        ['a', 3],
        ['a', 1],
        ['a', 2],
      ];
      expect(await storage.getMany('segments', keys)).toEqual([
        { n: 2 },
        undefined,
        { n: 1 },
        { n: 2 },
      ]);
      expect(await storage.getMany('segments', [])).toEqual([]);
      await storage.close();
    });

    test('orders keys item by item: numbers before strings, a prefix first', async () => {
      const storage = await fresh();
      const ordered: StorageKey[] = [
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
      const shuffled = ordered.map((key, at) => put(key, { at })).reverse();
      await storage.write(shuffled, 'relaxed');
      const values = await storage.list('segments', { prefix: ['p'], limit: 100 });
      expect(values).toEqual(ordered.map((_, at) => ({ at })));
      await storage.close();
    });

    test('list takes a prefix, a limit and a key to continue after', async () => {
      const storage = await fresh();
      const others = ['', 'a', 'aa', 'a\0', 'b'].filter((name) => name !== 'a');
      const operations = [1, 2, 3, 4, 5].map((n) => put(['a', n], { n }));
      await storage.write(
        [...operations, ...others.map((name) => put([name, 1], { name }))],
        'relaxed',
      );
      const list = (limit: number, after?: StorageKey) =>
        storage.list('segments', { prefix: ['a'], limit, after });
      expect(await list(100)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }, { n: 5 }]);
      expect(await list(2)).toEqual([{ n: 1 }, { n: 2 }]);
      expect(await list(2, ['a', 2])).toEqual([{ n: 3 }, { n: 4 }]);
      expect(await list(2, ['a', 4.5])).toEqual([{ n: 5 }]);
      expect(await list(2, ['a', 5])).toEqual([]);
      expect(await storage.list('segments', { prefix: ['none'], limit: 9 })).toEqual([]);
      await storage.close();
    });

    test('keeps stores separate', async () => {
      const storage = await fresh();
      const key = ['same'];
      await storage.write([put(key, { in: 'segments' })], 'relaxed');
      expect(await storage.getMany('collections', [key])).toEqual([undefined]);
      await storage.write(
        [{ type: 'put', store: 'collections', key, value: { in: 'collections' } }],
        'strict',
      );
      await storage.write([{ type: 'deletePrefix', store: 'segments', prefix: [] }], 'strict');
      expect(await storage.getMany('collections', [key])).toEqual([{ in: 'collections' }]);
      expect(await storage.getMany('segments', [key])).toEqual([undefined]);
      await storage.close();
    });

    test('applies the steps of a batch in order', async () => {
      const storage = await fresh();
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
      expect(await storage.list('segments', { prefix: [], limit: 9 })).toEqual([{ n: 4 }]);
      await storage.close();
    });

    test('deletePrefix compares whole items of keys, not their text', async () => {
      const storage = await fresh();
      const names = ['a', 'a.', 'aa', 'A', ''];
      await storage.write(
        names.flatMap((name) => [put([name, 1], { name }), put([name, 2], { name })]),
        'relaxed',
      );
      await storage.write([{ type: 'deletePrefix', store: 'segments', prefix: ['a'] }], 'relaxed');
      const left = await storage.list('segments', { prefix: [], limit: 99 });
      expect(left).toHaveLength(8);
      expect(left).not.toContainEqual({ name: 'a' });
      await storage.close();
    });

    test('writes nothing of a batch whose generator throws', async () => {
      const storage = await fresh();
      await storage.write([put(['a'], { n: 'old' })], 'relaxed');
      function* failing(): Generator<StorageOperation> {
        yield put(['a'], { n: 'new' });
        yield { type: 'delete', store: 'segments', key: ['a'] };
        // Large enough to be sent while the generator still runs.
        yield put(['b'], { size: 10_000_000 });
        yield put(['c'], { n: 'new' });
        throw new Error('no more');
      }
      await expect(storage.write(failing(), 'relaxed')).rejects.toThrow('no more');
      expect(await storage.getMany('segments', [['a'], ['b'], ['c']])).toEqual([
        { n: 'old' },
        undefined,
        undefined,
      ]);
      await storage.write([put(['b'], { n: 'later' })], 'relaxed');
      expect(await storage.getMany('segments', [['b']])).toEqual([{ n: 'later' }]);
      await storage.close();
    });

    test('pulls each step of a batch once, in order', async () => {
      const storage = await fresh();
      const drawn: number[] = [];
      function* operations(): Generator<StorageOperation> {
        for (let n = 0; n < 40; n++) {
          drawn.push(n);
          yield put(['n', n], { n, size: 100_000 });
        }
      }
      await storage.write(operations(), 'relaxed');
      expect(drawn).toEqual(Array.from({ length: 40 }, (_, n) => n));
      expect(await storage.list('segments', { prefix: ['n'], limit: 99 })).toHaveLength(40);
      await storage.close();
    });

    test('accepts an empty batch', async () => {
      const storage = await fresh();
      await storage.write([], 'strict');
      expect(await storage.list('segments', { prefix: [], limit: 1 })).toEqual([]);
      await storage.close();
    });

    test('shows a write to later reads, awaited or not', async () => {
      const storage = await fresh();
      const writes = Array.from({ length: 20 }, (_, n) =>
        storage.write([put(['last'], { n })], 'relaxed'),
      );
      const read = storage.getMany('segments', [['last']]);
      await Promise.all(writes);
      expect(await read).toEqual([{ n: 19 }]);
      await storage.close();
    });

    test('returns every value that structured clone keeps', async () => {
      const storage = await fresh();
      const value = {
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
      await storage.write([put(['value'], value)], 'relaxed');
      const [stored] = await storage.getMany('segments', [['value']]);
      expect(stored).toStrictEqual(value);
      await storage.close();
    });

    test('keeps values over a reopening', async () => {
      const name = freshName();
      const first = await driver.open(name, silent);
      await first.write([put(['a', 1], { n: 1 })], 'strict');
      await first.close();
      const second = await driver.open(name, silent);
      expect(await second.getMany('segments', [['a', 1]])).toEqual([{ n: 1 }]);
      await second.close();
    });

    test('keeps two databases separate', async () => {
      const one = await fresh();
      const other = await fresh();
      await one.write([put(['a'], { n: 1 })], 'relaxed');
      expect(await other.getMany('segments', [['a']])).toEqual([undefined]);
      await Promise.all([one.close(), other.close()]);
    });

    test('accepts any characters in names of databases and in keys', async () => {
      for (const name of ['', '💾', 'a/b:c"\\', 'x'.repeat(128), '\0']) {
        const storage = await driver.open(`${freshName()}${name}`, silent);
        await storage.write([put([name, 1], { name })], 'relaxed');
        expect(await storage.list('segments', { prefix: [name], limit: 9 })).toEqual([{ name }]);
        await storage.close();
      }
    });

    describe('a check', () => {
      const key: StorageKey = ['epoch'];
      const check = (epoch: number): StorageOperation => ({
        type: 'check',
        store: 'leadership',
        key,
        epoch,
      });
      const claim = (epoch: number): StorageOperation => ({
        type: 'put',
        store: 'leadership',
        key,
        value: { epoch },
      });
      const taken = { name: 'StorageError', code: 'database_taken' };

      test('lets a batch pass if the epoch matches, 0 for a new database', async () => {
        const storage = await fresh();
        await storage.write([check(0), claim(1), put(['a'], { n: 1 })], 'relaxed');
        await storage.write([put(['b'], { n: 2 }), check(1)], 'relaxed');
        expect(await storage.getMany('segments', [['a'], ['b']])).toEqual([{ n: 1 }, { n: 2 }]);
        await storage.close();
      });

      test('of another epoch applies nothing of the batch, at any index in it', async () => {
        const storage = await fresh();
        await storage.write([claim(2), put(['old'], { n: 1 })], 'relaxed');
        const others: StorageOperation[] = [
          put(['new'], { n: 1 }),
          { type: 'delete', store: 'segments', key: ['old'] },
          { type: 'deletePrefix', store: 'segments', prefix: [] },
        ];
        for (const epoch of [0, 1, 3]) {
          for (let at = 0; at <= others.length; at++) {
            const batch = others.toSpliced(at, 0, check(epoch));
            await expect(storage.write(batch, 'relaxed')).rejects.toMatchObject(taken);
          }
        }
        expect(await storage.list('segments', { prefix: [], limit: 9 })).toEqual([{ n: 1 }]);
        expect(await storage.getMany('leadership', [key])).toEqual([{ epoch: 2 }]);
        await storage.close();
      });

      test('sees the writes of other connections up to the batch', async () => {
        const name = freshName();
        const [one, other] = [await driver.open(name, silent), await driver.open(name, silent)];
        const claims = [one, other].map((storage) => storage.write([check(0), claim(1)], 'strict'));
        const settled = await Promise.allSettled(claims);
        const failed = settled.filter(({ status }) => status === 'rejected');
        expect(failed).toMatchObject([{ reason: taken }]);
        await expect(other.write([check(0)], 'relaxed')).rejects.toMatchObject(taken);
        await one.write([check(1), claim(2)], 'relaxed');
        await expect(other.write([check(1), claim(2)], 'relaxed')).rejects.toMatchObject(taken);
        await Promise.all([one.close(), other.close()]);
      });

      test('that fails leaves storage usable', async () => {
        const storage = await fresh();
        const writes = [
          storage.write([check(5), put(['a'], { n: 1 })], 'relaxed'),
          storage.write([put(['b'], { n: 2 })], 'relaxed'),
        ];
        expect(await Promise.allSettled(writes)).toMatchObject([
          { status: 'rejected', reason: taken },
          { status: 'fulfilled' },
        ]);
        expect(await storage.list('segments', { prefix: [], limit: 9 })).toEqual([{ n: 2 }]);
        await storage.close();
      });
    });

    describe('a claim', () => {
      const key: StorageKey = ['epoch'];
      const claim = (epoch: number, token: string): StorageOperation => ({
        type: 'claim',
        store: 'leadership',
        key,
        epoch,
        claim: token,
      });
      const taken = { name: 'StorageError', code: 'database_taken' };
      const owner = async (storage: Storage) => (await storage.getMany('leadership', [key]))[0];

      test('stores the next epoch, 1 for a new database', async () => {
        const storage = await fresh();
        await storage.write([claim(1, 'a'), put(['a'], { n: 1 })], 'relaxed');
        expect(await owner(storage)).toEqual({ epoch: 1, claim: 'a' });
        await storage.write([claim(2, 'b')], 'relaxed');
        expect(await owner(storage)).toEqual({ epoch: 2, claim: 'b' });
        expect(await storage.getMany('segments', [['a']])).toEqual([{ n: 1 }]);
        await storage.close();
      });

      test('may be repeated', async () => {
        const storage = await fresh();
        const writes = [1, 2, 3].map((n) =>
          storage.write([claim(1, 'a'), put(['n', n], { n })], 'relaxed'),
        );
        await Promise.all(writes);
        await storage.write([put(['n', 4], { n: 4 }), claim(1, 'a')], 'strict');
        expect(await storage.list('segments', { prefix: ['n'], limit: 9 })).toHaveLength(4);
        expect(await owner(storage)).toEqual({ epoch: 1, claim: 'a' });
        await storage.close();
      });

      test('applies nothing of the batch if another leader has this epoch or a later one', async () => {
        const storage = await fresh();
        await storage.write([claim(1, 'a')], 'relaxed');
        await storage.write([claim(2, 'b'), put(['old'], { n: 1 })], 'relaxed');
        const others: StorageOperation[] = [
          put(['new'], { n: 1 }),
          { type: 'delete', store: 'segments', key: ['old'] },
        ];
        const refused = [claim(1, 'a'), claim(1, 'b'), claim(2, 'a'), claim(4, 'b')];
        for (const operation of refused) {
          for (let at = 0; at <= others.length; at++) {
            const batch = others.toSpliced(at, 0, operation);
            await expect(storage.write(batch, 'relaxed')).rejects.toMatchObject(taken);
          }
        }
        expect(await storage.list('segments', { prefix: [], limit: 9 })).toEqual([{ n: 1 }]);
        expect(await owner(storage)).toEqual({ epoch: 2, claim: 'b' });
        await storage.close();
      });

      test('of one epoch succeeds for one of two connections', async () => {
        const name = freshName();
        const [one, other] = [await driver.open(name, silent), await driver.open(name, silent)];
        const claims = [
          one.write([claim(1, 'one'), put(['one'], { n: 1 })], 'strict'),
          other.write([claim(1, 'other'), put(['other'], { n: 2 })], 'strict'),
        ];
        const failed = (await Promise.allSettled(claims)).filter((one) => 'reason' in one);
        expect(failed).toMatchObject([{ reason: taken }]);
        expect(await other.list('segments', { prefix: [], limit: 9 })).toHaveLength(1);
        await Promise.all([one.close(), other.close()]);
      });
    });

    test('rejects every call after close()', async () => {
      const storage = await fresh();
      await storage.close();
      const lost = { name: 'StorageError', code: 'storage_lost' };
      await expect(storage.getMany('segments', [['a']])).rejects.toMatchObject(lost);
      await expect(storage.list('segments', { prefix: [], limit: 1 })).rejects.toMatchObject(lost);
      await expect(storage.write([put(['a'], {})], 'relaxed')).rejects.toMatchObject(lost);
      await storage.close();
    });
  });
}
