import { describe, expect, test } from 'vitest';
import type { ClientFixture } from '../client-fixture.ts';
import { thrown } from '../outcomes.ts';

/** Transactions over keys and values, and those without promises. */
export function transactionKeyValuesSuite(fixture: ClientFixture): void {
  describe('transactions over keys and values', () => {
    const store = async () => {
      const values = fixture.keyValues();
      await values.set('stock', { book: 2, lamp: 1 });
      await values.set('recent', ['a', 'b']);
      return { values, db: fixture.db };
    };

    test('have every method, and see their own changes', async () => {
      const { values, db } = await store();
      await db.transaction(async (tx) => {
        const own = tx(values);
        expect(await own.decrease('stock.book', 1)).toBe(1);
        expect(await own.increase('stock.pen', 4)).toBe(4);
        expect(await own.get('stock')).toEqual({ book: 1, lamp: 1, pen: 4 });
        expect(await own.push('recent', 'c')).toEqual(['a', 'b', 'c']);
        expect(await own.remove('recent', 'a')).toEqual(['b', 'c']);
        expect(await own.remove('recent', (item: unknown) => item === 'b')).toEqual(['c']);
        expect(await own.find('recent', (item: unknown) => item === 'c')).toBe('c');
        expect(await own.filter('recent', 'x')).toEqual([]);
        expect(await own.has('recent', 'c')).toBe(true);
        expect(await own.set('new.deep', true)).toBe(true);
        expect(await own.delete('stock.lamp')).toBe(true);
        expect(await own.keys()).toEqual(['stock', 'recent', 'new']);
        expect(await own.count()).toBe(3);
        expect(await own.entries()).toEqual([
          ['stock', { book: 1, pen: 4 }],
          ['recent', ['c']],
          ['new', { deep: true }],
        ]);
        expect(await values.entries()).toEqual([
          ['stock', { book: 2, lamp: 1 }],
          ['recent', ['a', 'b']],
        ]);
      });
      expect(await values.entries()).toEqual([
        ['stock', { book: 1, pen: 4 }],
        ['recent', ['c']],
        ['new', { deep: true }],
      ]);
      await fixture.reopen();
      expect(await fixture.keyValues().get('new.deep')).toBe(true);
    });

    test.each([
      ['another key', 'recent', 1],
      ['another path of the record', 'stock.lamp', 2],
      ['a key that does not exist', 'coupon', 1],
    ])('run again after a change of what was read: %s', async (_, key, runs) => {
      const { values, db } = await store();
      let count = 0;
      await db.transaction(async (tx) => {
        const left = (await tx(values).get<number>('stock.book')) ?? 0;
        if (++count === 1) await values.set(key, 'x');
        await tx(values).set('stock.book', left - 1);
      });
      expect(count).toBe(runs);
      expect(await values.get('stock.book')).toBe(1);
      expect(await values.get(key)).toBe('x');
    });

    test('run again when the list of keys has changed', async () => {
      const { values, db } = await store();
      const seen: string[][] = [];
      await db.transaction(async (tx) => {
        const keys = await tx(values).keys();
        seen.push(keys);
        if (seen.length === 1) await values.set('late', 1);
        await tx(values).set('index', keys.length);
      });
      expect(seen).toEqual([
        ['stock', 'recent'],
        ['stock', 'recent', 'late'],
      ]);
      expect(await values.get('index')).toBe(3);
    });

    test('cover documents and keys as one', async () => {
      const { values, db } = await store();
      const orders = fixture.documents<{ item: string }>({ name: 'orders' });
      const order = (item: string) =>
        db.transaction(async (tx) => {
          const left = (await tx(values).get<number>(`stock.${item}`)) ?? 0;
          if (left === 0) return false;
          await tx(values).decrease(`stock.${item}`, 1);
          await tx(orders).insert({ item });
          return true;
        });
      const placed = await Promise.all([order('book'), order('book'), order('book')]);
      expect(placed.filter(Boolean).length).toBe(2);
      expect(await values.get('stock.book')).toBe(0);
      expect(await orders.count()).toBe(2);
    });

    if (!fixture.caching || fixture.kind.engine !== 'thread' || !('transactionSync' in fixture.db))
      return;

    test('without promises: all or none, in one turn', async () => {
      const { values } = await store();
      const orders = fixture.documents<{ item: string }>({ name: 'orders' });
      await Promise.all([values.ready, orders.ready]);
      const db = fixture.db as InstanceType<typeof fixture.lib.Database>;
      const left = db.transactionSync((tx) => {
        const { _id } = tx(orders).insert({ item: 'book' });
        expect(tx(orders).get(_id)?.item).toBe('book');
        expect(orders.sync.count()).toBe(0);
        return tx(values).decrease('stock.book', 1);
      });
      expect(left).toBe(1);
      expect(orders.sync.count()).toBe(1);
      const failed = thrown(() =>
        db.transactionSync((tx) => {
          tx(orders).deleteMany({});
          tx(values).increase('recent', 1);
        }),
      );
      expect(failed.code).toBe('kind_mismatch');
      expect(orders.sync.count()).toBe(1);
      expect(db.transactionSync(() => 5)).toBe(5);
      await fixture.reopen();
      expect(await fixture.keyValues().get('stock.book')).toBe(1);
      expect(await fixture.documents({ name: 'orders' }).count()).toBe(1);
    });
  });
}
