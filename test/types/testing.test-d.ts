import { describe, expectTypeOf, test } from 'vitest';
import { type Connection, Database, type DatabaseClient, memoryDriver } from '../../src/index.ts';
import {
  FakeClock,
  type StorageFault,
  storageDriverSuite,
  type TestDatabase,
  type TestStorage,
  testBrowser,
  testDatabase,
  testStorage,
} from '../../src/testing/index.ts';

test('a test database stands in for every client', () => {
  const db = testDatabase();
  expectTypeOf(db).toEqualTypeOf<TestDatabase>();
  expectTypeOf(db).toExtend<DatabaseClient>();
  expectTypeOf(db).toExtend<Connection>();
  expectTypeOf(db).toExtend<Database>();
  expectTypeOf(testBrowser().openTab()).toEqualTypeOf<TestDatabase>();
  expectTypeOf(db[Symbol.asyncDispose]()).toEqualTypeOf<Promise<void>>();
});

test('options are checked', () => {
  const clock = new FakeClock(new Date());
  testDatabase({ name: 'shop', clock, storage: memoryDriver(), auto_close: false });
  testBrowser({ clock });
  // @ts-expect-error an instance, not a time
  testDatabase({ clock: 5 });
  // @ts-expect-error storage is a driver
  testDatabase({ storage: 'memory' });
  // @ts-expect-error no such option
  testDatabase({ durability: 'strict' });
});

test('a disk takes the codes of storage errors, and is a driver', () => {
  const disk = testStorage();
  expectTypeOf(disk).toEqualTypeOf<TestStorage>();
  new Database({ name: 'shop', storage: disk });
  disk.fail({ on: 'read', code: 'storage_lost', times: 2 });
  // @ts-expect-error no such code
  disk.fail({ code: 'disk_full' });
  expectTypeOf<StorageFault['on']>().toEqualTypeOf<'open' | 'read' | 'write' | undefined>();
});

test('the suite of drivers takes the functions of a runner', () => {
  storageDriverSuite(memoryDriver(), { describe, test });
  // @ts-expect-error describe is missing
  storageDriverSuite(memoryDriver(), { test });
});
