import { describe, expectTypeOf, test } from 'vitest';
import {
  type AnyDocument,
  type Change,
  type ClientStatus,
  type Connection,
  connect,
  Database,
  type DatabaseClient,
  memoryDriver,
  type Stored,
} from '../../src/index.ts';

const db = new Database({ name: 'types' });

describe('clients', () => {
  test('both implement one interface', () => {
    expectTypeOf<Database>().toExtend<DatabaseClient>();
    expectTypeOf<Connection>().toExtend<DatabaseClient>();
    expectTypeOf(connect({ name: 'a' })).toEqualTypeOf<Connection>();
  });

  test('have their own options', () => {
    new Database({ name: 'a', storage: 'memory', durability: 'strict' });
    new Database({ name: 'a', storage: memoryDriver() });
    connect({ name: 'a', storage: 'indexeddb', worker: () => new Worker('a.js') });
    // @ts-expect-error a name is required
    new Database({});
    // @ts-expect-error no such storage
    new Database({ name: 'a', storage: 'disk' });
    // @ts-expect-error no such option
    new Database({ name: 'a', wroker: 1 });
    // @ts-expect-error the thread needs no worker
    new Database({ name: 'a', worker: () => new Worker('a.js') });
    // @ts-expect-error a driver cannot cross to a worker
    connect({ name: 'a', storage: memoryDriver() });
    // @ts-expect-error a worker is no address
    connect({ name: 'a', worker: 'worker.js' });
  });

  test('type their events', () => {
    expectTypeOf(db.status).toEqualTypeOf<ClientStatus>();
    expectTypeOf(db.on('status', () => undefined)).toEqualTypeOf<() => void>();
    db.on('status', (status) => expectTypeOf(status).toEqualTypeOf<ClientStatus>());
    db.on('change', ({ collection, changes }) => {
      expectTypeOf(collection).toEqualTypeOf<string>();
      expectTypeOf(changes).toEqualTypeOf<readonly Change[]>();
    });
    db.on('save', ({ changes, at }) => {
      expectTypeOf(changes).toEqualTypeOf<number>();
      expectTypeOf(at).toEqualTypeOf<Date>();
    });
    db.on('error', ({ error }) => expectTypeOf(error.code).toEqualTypeOf<string>());
    // @ts-expect-error no such event
    db.on('changed', () => undefined);
    // @ts-expect-error the status cannot be set
    db.status = undefined;
  });
});

describe('the option type decides the class', () => {
  test('documents', () => {
    const things = new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
    expectTypeOf(things.insert({ any: 1 })).resolves.toEqualTypeOf<Stored<AnyDocument>>();
    // @ts-expect-error keys are for the other type
    things.set('a', 1);
    new db.Collection<{ n: number }>({
      name: 'a',
      type: 'DOCUMENT_BASED',
      id_length: 8,
      indicate_created_at: true,
      indicate_edited_timestamp: true,
      save_timeout: 0,
      caching: undefined,
    });
  });

  test('key-values', () => {
    const values = new db.Collection({ name: 'a', type: 'KEY_VALUE_BASED' });
    expectTypeOf(values.get('a')).resolves.toEqualTypeOf<unknown>();
    // @ts-expect-error documents are for the other type
    values.insert({});
    // @ts-expect-error ids are for documents
    new db.Collection({ name: 'a', type: 'KEY_VALUE_BASED', id_length: 8 });
  });

  test('wrong options are rejected', () => {
    // @ts-expect-error a type is required
    new db.Collection({ name: 'a' });
    // @ts-expect-error a name is required
    new db.Collection({ type: 'DOCUMENT_BASED' });
    // @ts-expect-error no such type
    new db.Collection({ name: 'a', type: 'DOCUMENTS' });
    // @ts-expect-error no such option
    new db.Collection({ name: 'a', type: 'DOCUMENT_BASED', cacheing: true });
    // @ts-expect-error a flag
    new db.Collection({ name: 'a', type: 'DOCUMENT_BASED', caching: 1 });
    // @ts-expect-error a number
    new db.Collection({ name: 'a', type: 'DOCUMENT_BASED', save_timeout: '1' });
  });
});
