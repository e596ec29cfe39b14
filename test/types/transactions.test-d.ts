import { describe, expectTypeOf, test } from 'vitest';
import {
  Database,
  type Stored,
  type SyncTransaction,
  type Transaction,
  type TransactionOptions,
} from '../../src/index.ts';

interface User {
  name: string;
  age: number;
}

const db = new Database({ name: 'types' });
const users = new db.Collection<User>({
  name: 'users',
  type: 'DOCUMENT_BASED',
  indicate_created_at: true,
});
const prices = new db.Collection<number>({ name: 'prices', type: 'KEY_VALUE_BASED' });
type StoredUser = Stored<User, '_created_at'>;

describe('in a transaction', () => {
  test('documents have the types that they have outside', () =>
    db.transaction(async (tx) => {
      expectTypeOf(await tx(users).get('a')).toEqualTypeOf<StoredUser | undefined>();
      expectTypeOf(await tx(users).insert({ name: 'Ada', age: 1 })).toEqualTypeOf<StoredUser>();
      expectTypeOf(await tx(users).filter({ age: 1 }, { select: ['name'] })).toEqualTypeOf(
        await users.filter({ age: 1 }, { select: ['name'] }),
      );
      expectTypeOf(await tx(users).patchMany({}, { $inc: { age: 1 } })).toEqualTypeOf<number>();
      // @ts-expect-error a field is missing
      await tx(users).insert({ name: 'Ada' });
      // @ts-expect-error no such field
      await tx(users).patch('a', { nmae: 'Ada' });
      // @ts-expect-error $inc needs a number
      await tx(users).patch('a', { $inc: { name: 1 } });
      // @ts-expect-error no such field
      await tx(users).find({ nmae: 'Ada' });
    }));

  test('values have the type of their collection', () =>
    db.transaction(async (tx) => {
      expectTypeOf(await tx(prices).get('lamp')).toEqualTypeOf<number | undefined>();
      expectTypeOf(await tx(prices).increase('lamp', 1)).toEqualTypeOf<number>();
      // @ts-expect-error a collection of keys inserts nothing
      await tx(prices).insert({ name: 'Ada' });
    }));

  test('only collections are taken', () =>
    db.transaction((tx) => {
      // @ts-expect-error a name is no collection
      tx('users');
      // @ts-expect-error methods without promises are for transactionSync
      tx(users.sync);
    }));
});

test('it resolves with what the function returns', () => {
  expectTypeOf(db.transaction(async () => 5)).toEqualTypeOf<Promise<number>>();
  expectTypeOf(db.transaction(() => 'text')).toEqualTypeOf<Promise<string>>();
  const place = (tx: Transaction) => tx(users).count();
  expectTypeOf(db.transaction(place)).toEqualTypeOf<Promise<number>>();
});

test('options have names and types', () => {
  const options: TransactionOptions = { retries: 3, durable: true, signal: AbortSignal.timeout(1) };
  db.transaction(() => 1, options);
  // @ts-expect-error no such option
  db.transaction(() => 1, { retry: 3 });
  // @ts-expect-error a number of retries
  db.transaction(() => 1, { retries: '3' });
});

test('without promises the types are those of collection.sync', () => {
  db.transactionSync((tx) => {
    expectTypeOf(tx(users).get('a')).toEqualTypeOf<StoredUser | undefined>();
    expectTypeOf(tx(prices).get('lamp')).toEqualTypeOf<number | undefined>();
  });
  expectTypeOf(db.transactionSync(() => 5)).toEqualTypeOf<number>();
  expectTypeOf(db.transactionSync((tx) => tx(users).get('a'))).toEqualTypeOf<
    StoredUser | undefined
  >();
  expectTypeOf(db.transactionSync(() => undefined)).toEqualTypeOf<undefined>();
  expectTypeOf(db.transactionSync(() => {})).toEqualTypeOf<void>();
  expectTypeOf(db.transactionSync(() => [1, 2])).toEqualTypeOf<number[]>();
  const fails = (): never => {
    throw new Error('no');
  };
  expectTypeOf(() => db.transactionSync(fails)).returns.toEqualTypeOf<never>();
  expectTypeOf(db.transactionSync((): any => 1)).toBeAny();
  expectTypeOf(db.transactionSync((): unknown => 1)).toBeUnknown();
});

test('transactionSync takes no function that returns a promise', () => {
  // @ts-expect-error async
  db.transactionSync(async () => 5);
  // @ts-expect-error async, and returns nothing
  db.transactionSync(async (tx) => {
    tx(users).get('a');
  });
  // @ts-expect-error it returns a promise
  db.transactionSync(() => users.count());
  function twice<R>(run: (tx: SyncTransaction) => R): R {
    // A wrapper passes it on unchecked.
    return db.transactionSync(run as never) as R;
  }
  expectTypeOf(twice(() => 5)).toEqualTypeOf<number>();
});
