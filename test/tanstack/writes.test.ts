import {
  createCollection,
  createLiveQueryCollection,
  createTransaction,
  eq,
  localOnlyCollectionOptions,
} from '@tanstack/db';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Database, type DocumentCollection } from '../../src/index.ts';
import { cairnCollectionOptions, writeMutations } from '../../src/tanstack/index.ts';

interface Order {
  item: string;
  left?: number;
  customer?: string;
  'a.b'?: number;
}

let db: Database;
let documents: DocumentCollection<Order>;
let opened: { cleanup(): Promise<void> }[];

beforeEach(async () => {
  db = new Database({ name: crypto.randomUUID(), storage: 'memory' });
  documents = new db.Collection<Order>({
    name: 'orders',
    type: 'DOCUMENT_BASED',
    indexes: [{ fields: 'item', unique: true }],
  });
  await documents.insertMany([
    { _id: 'a', item: 'lamp', left: 3, customer: 'ada' },
    { _id: 'b', item: 'desk', customer: 'bo' },
  ]);
  opened = [];
});
afterEach(async () => {
  for (const one of opened.toReversed()) await one.cleanup();
  await db.close();
});

function noted<C extends { cleanup(): Promise<void> }>(collection: C): C {
  opened.push(collection);
  return collection;
}

const open = (options: Partial<Parameters<typeof cairnCollectionOptions<Order>>[0]> = {}) =>
  noted(createCollection(cairnCollectionOptions({ collection: documents, ...options })));

/** The rows of customers, as a query of an on-demand collection loads them. */
const of = (source: ReturnType<typeof open>, customer: string) =>
  noted(
    createLiveQueryCollection((q) =>
      q.from({ order: source }).where(({ order }) => eq(order.customer, customer)),
    ),
  );

describe('a write', () => {
  test('shows at once, stays until the stored row takes its place, and is stored', async () => {
    const orders = open();
    await orders.preload();
    const seen: unknown[] = [];
    orders.subscribeChanges((changes) => {
      for (const { type, key } of changes) seen.push(`${type} ${key} ${orders.has(key)}`);
    });
    const inserted = orders.insert({ _id: 'c', item: 'chair' });
    expect(orders.get('c')).toMatchObject({ item: 'chair' });
    await inserted.isPersisted.promise;
    expect(orders.get('c')).toMatchObject({ item: 'chair', _updated: false, $synced: true });
    await orders.update('c', (draft) => {
      draft.left = 1;
    }).isPersisted.promise;
    expect(orders.get('c')).toMatchObject({ left: 1, _updated: true, $synced: true });
    await orders.delete('c').isPersisted.promise;
    expect(seen.filter((one) => /delete|false/.test(`${one}`))).toEqual(['delete c false']);
    expect(await documents.get('c')).toBeUndefined();
  });

  test('changes the fields that differ alone', async () => {
    const orders = open();
    await orders.preload();
    const changed = orders.update('a', (draft) => {
      draft.item = 'light';
      delete draft.customer;
    });
    await documents.patch('a', { left: 2 });
    await changed.isPersisted.promise;
    expect(await documents.get('a')).toEqual({
      ...{ _id: 'a', _updated: true, _archived: false },
      ...{ item: 'light', left: 2 },
    });
    await orders.update('b', (draft) => {
      draft['a.b'] = 1;
    }).isPersisted.promise;
    expect(await documents.get('b')).toMatchObject({ 'a.b': 1, item: 'desk' });
    const dotted = orders.update('b', (draft) => {
      draft['a.b'] = 2;
      delete draft.customer;
    });
    await documents.patch('b', { left: 7 });
    await dotted.isPersisted.promise;
    expect(await documents.get('b')).toEqual({
      ...{ _id: 'b', _updated: true, _archived: false },
      ...{ item: 'desk', left: 7, 'a.b': 2 },
    });
  });

  test.each([
    ['an id that is taken', 'id_taken', { _id: 'z', item: 'new' }],
    ['a value of a unique index', 'unique_violation', { _id: 'y', item: 'lamp' }],
  ])('of %s is taken back with the error %s', async (_, code, row) => {
    await documents.insert({ _id: 'z', item: 'archived' });
    await documents.archive('z'); // so that no row has it
    const orders = open();
    await orders.preload();
    const { isPersisted } = orders.insert(row);
    await expect(isPersisted.promise).rejects.toMatchObject({ code });
    expect([...orders.keys()].sort()).toEqual(['a', 'b']);
  });

  test('of a document that was deleted meanwhile is taken back with document_missing', async () => {
    const orders = open({ syncMode: 'on-demand' });
    await of(orders, 'ada').preload();
    const deleted = documents.delete('a');
    const { isPersisted } = orders.update('a', (draft) => {
      draft.left = 9;
    });
    await expect(isPersisted.promise).rejects.toMatchObject({ code: 'document_missing' });
    await deleted;
    await expect.poll(() => orders.has('a')).toBe(false);
  });
});

describe('writes that nobody awaits', () => {
  test('take effect in the order in which they were made', async () => {
    const orders = open();
    await orders.preload();
    const all = [
      orders.insert({ _id: 'c', item: 'chair' }),
      ...Array.from({ length: 20 }, (_, n) =>
        orders.update('c', (draft) => {
          draft.left = n;
        }),
      ),
      orders.delete('b'),
      orders.insert({ _id: 'd', item: 'desk' }), // the unique value of the one that was deleted
      orders.update(['c', 'd'], (drafts) => {
        for (const draft of drafts) draft.customer = 'cy';
      }),
      orders.delete('a'),
    ];
    await Promise.all(all.map(({ isPersisted }) => isPersisted.promise));
    const stored = (await documents.filter({})).map(({ _id, left, customer }) => [
      ...[_id, left, customer],
    ]);
    expect(stored).toEqual([
      ['c', 19, 'cy'],
      ['d', undefined, 'cy'],
    ]);
    expect([...orders.keys()].sort()).toEqual(['c', 'd']);
  });

  test('and change a row of one that is refused are taken back with it, others not', async () => {
    await documents.insert({ _id: 'z', item: 'archived' });
    await documents.archive('z'); // so that no row has it
    const orders = open();
    await orders.preload();
    const all = [
      orders.insert({ _id: 'z', item: 'new' }),
      orders.update('z', (draft) => {
        draft.item = 'newer';
      }),
      orders.update('a', (draft) => {
        draft.left = 1;
      }),
      orders.update(['a', 'z'], (drafts) => {
        for (const draft of drafts) draft.customer = 'cy';
      }),
      orders.update('a', (draft) => {
        draft.item = 'desk';
      }),
      orders.update('b', (draft) => {
        draft.left = 2;
      }),
    ];
    const settled = await Promise.allSettled(all.map(({ isPersisted }) => isPersisted.promise));
    const codes = settled.map((one) => (one.status === 'rejected' ? one.reason.code : 'written'));
    expect(codes).toEqual(['id_taken', 'id_taken', 'written', 'id_taken', 'id_taken', 'written']);
    expect(await documents.filter({}, { archived: true })).toMatchObject([
      { _id: 'a', item: 'lamp', left: 1, customer: 'ada' },
      { _id: 'b', left: 2 },
      { _id: 'z', item: 'archived' },
    ]);
    expect(orders.toArray).toMatchObject([
      { _id: 'a', item: 'lamp', left: 1, customer: 'ada' },
      { _id: 'b', left: 2 },
    ]);
    expect(orders.size).toBe(2);
  });

  test('are one transaction, but for the first; each alone if one is refused', async () => {
    const orders = open();
    await orders.preload();
    const transaction = vi.spyOn(db, 'transaction');
    const insertAll = async (items: readonly string[]) => {
      const all = items.map(
        (item) => orders.insert({ _id: `of ${item}`, item }).isPersisted.promise,
      );
      return (await Promise.allSettled(all)).map(({ status }) => status);
    };
    const items = Array.from({ length: 20 }, (_, n) => `item ${n}`);
    expect(new Set(await insertAll(items))).toEqual(new Set(['fulfilled']));
    expect(transaction.mock.calls.length).toBeLessThan(5);
    expect(await insertAll(['one', 'two', 'lamp', 'three'])).toEqual([
      ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    ]);
    expect(await documents.count()).toBe(25);
    expect(orders.size).toBe(25);
  });

  test('and that the app takes back before their turn are not made', async () => {
    const orders = open();
    await orders.preload();
    const first = orders.update('b', (draft) => {
      draft.left = 5;
    });
    const second = orders.update('a', (draft) => {
      draft.left = 5;
    });
    second.rollback();
    await expect(second.isPersisted.promise).rejects.toBeUndefined();
    await first.isPersisted.promise;
    await orders.insert({ _id: 'last', item: 'chair' }).isPersisted.promise;
    expect(await documents.get('a')).toMatchObject({ left: 3 });
    expect(orders.get('a')).toMatchObject({ left: 3 });
  });
});

describe('a transaction of several collections', () => {
  test('is one of Cairn: all or none', async () => {
    const log = new db.Collection<{ text: string }>({ name: 'log', type: 'DOCUMENT_BASED' });
    const orders = open();
    const lines = noted(createCollection(cairnCollectionOptions({ collection: log })));
    await Promise.all([orders.preload(), lines.preload()]);
    const both = (_id: string, item: string) => {
      const tx = createTransaction({ mutationFn: writeMutations });
      tx.mutate(() => {
        lines.insert({ _id, text: `took ${item}` });
        orders.insert({ _id, item });
      });
      return tx.isPersisted.promise;
    };
    await both('one', 'chair');
    await expect(both('two', 'lamp')).rejects.toMatchObject({ code: 'unique_violation' });
    expect([await log.count(), await documents.count()]).toEqual([1, 3]);
    expect([lines.size, orders.size]).toEqual([1, 3]);
  });

  test('with one of other options is refused', async () => {
    const local = noted(
      createCollection(localOnlyCollectionOptions({ getKey: ({ id }: { id: string }) => id })),
    );
    const tx = createTransaction({ mutationFn: writeMutations });
    tx.mutate(() => local.insert({ id: 'x' }));
    await expect(tx.isPersisted.promise).rejects.toMatchObject({ code: 'option_invalid' });
    expect(local.has('x')).toBe(false);
  });
});

describe('rows', () => {
  test('are those of the criteria, and follow other handles', async () => {
    const orders = open({ criteria: { left: { $gt: 0 } } });
    await orders.preload();
    expect([...orders.keys()]).toEqual(['a']);
    await documents.patch('b', { left: 1 });
    await documents.archive('a');
    await expect.poll(() => [...orders.keys()]).toEqual(['b']);
  });

  test('leave with the last query that shows them', async () => {
    const orders = open({ syncMode: 'on-demand' });
    const [one, two, other] = ['ada', 'ada', 'bo'].map((customer) => of(orders, customer));
    await Promise.all([one?.preload(), two?.preload(), other?.preload()]);
    expect([...orders.keys()].sort()).toEqual(['a', 'b']);
    await one?.cleanup();
    expect(orders.has('a')).toBe(true);
    await two?.cleanup();
    expect([...orders.keys()]).toEqual(['b']);
  });

  test('come to a join of what is loaded at once and on demand', async () => {
    const people = new db.Collection<{ name: string }>({ name: 'people', type: 'DOCUMENT_BASED' });
    await people.insertMany([
      { _id: 'ada', name: 'Ada' },
      { _id: 'bo', name: 'Bo' },
    ]);
    const orders = open();
    const customers = noted(
      createCollection(cairnCollectionOptions({ collection: people, syncMode: 'on-demand' })),
    );
    const list = noted(
      createLiveQueryCollection((q) =>
        q
          .from({ order: orders })
          .join({ person: customers }, ({ order, person }) => eq(order.customer, person._id))
          .orderBy(({ order }) => order.item, 'asc')
          .select(({ order, person }) => ({ item: order.item, name: person?.name })),
      ),
    );
    await list.preload();
    expect(list.toArray).toMatchObject([
      { item: 'desk', name: 'Bo' },
      { item: 'lamp', name: 'Ada' },
    ]);
    await people.patch('bo', { name: 'Bob' });
    await expect.poll(() => list.toArray[0]).toMatchObject({ name: 'Bob' });
  });
});

describe('errors', () => {
  test('of the first result reject preload()', async () => {
    const orders = open({ criteria: { item: { $gtt: 1 } } as never });
    await expect(orders.preload()).rejects.toMatchObject({ code: 'operator_unknown' });
  });

  test('of a later one are the status of the collection', async () => {
    const orders = open();
    await orders.preload();
    await db.close();
    await expect.poll(() => orders.status).toBe('error');
  });

  test('of a subset reject the query that asked for it', async () => {
    const orders = open({ syncMode: 'on-demand' });
    await db.close();
    await expect(of(orders, 'ada').preload()).rejects.toMatchObject({ code: 'closed' });
  });

  test('say what is no collection of documents, and which TanStack DB is too old', () => {
    const settings = new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
    for (const collection of [undefined, {}, settings] as never[])
      expect(() => cairnCollectionOptions({ collection })).toThrow(
        expect.objectContaining({ code: 'option_invalid', place: 'collection' }),
      );
    const { sync } = cairnCollectionOptions({ collection: documents });
    expect(() => sync.sync({ begin: () => undefined } as never)).toThrow(
      expect.objectContaining({ code: 'peer_unsupported' }),
    );
  });
});
