import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { Database, type MigrationError, type Stored } from '../../src/index.ts';

const db = new Database({ name: 'types', storage: 'memory' });

interface UserV1 {
  name: string;
}

interface User {
  names: string[];
}

test('steps take any document, or the type of the version before', () => {
  const users = new db.Collection<User>({
    name: 'users',
    type: 'DOCUMENT_BASED',
    version: 3,
    migrate: {
      2: ({ name, ...user }) => ({ ...user, names: name.split(' ') }),
      3: (user: UserV1) => (user.name ? { names: [user.name] } : undefined),
    },
  });
  expectTypeOf(users.get('a')).resolves.toEqualTypeOf<Stored<User> | undefined>();
});

test('a schema decides the types beside steps', () => {
  const users = new db.Collection({
    name: 'users',
    type: 'DOCUMENT_BASED',
    schema: z.object({ names: z.array(z.string()) }),
    version: 2,
    migrate: { 2: ({ name }) => ({ names: [name] }) },
  });
  expectTypeOf(users.get('a')).resolves.toEqualTypeOf<Stored<User> | undefined>();
});

test('steps of a key-value collection take the value and its key', () => {
  new db.Collection<number>({
    name: 'values',
    type: 'KEY_VALUE_BASED',
    version: 2,
    migrate: { 2: (value: { n: number }, key) => (key === 'gone' ? undefined : value.n) },
  });
});

test('what is no step is an error', () => {
  // @ts-expect-error a text is no version
  new db.Collection({ name: 'a', type: 'DOCUMENT_BASED', version: '2' });
  // @ts-expect-error a text is no step
  new db.Collection({ name: 'a', type: 'DOCUMENT_BASED', version: 2, migrate: { 2: 'step' } });
  const asynchronous = async (document: object) => document;
  expectTypeOf(asynchronous).returns.resolves.toBeObject();
});

test('the event and the error are typed', () => {
  db.on('migration', (event) => {
    expectTypeOf(event.backup).toEqualTypeOf<string | undefined>();
    expectTypeOf(event.done).toBeNumber();
  });
  expectTypeOf<MigrationError['version']>().toBeNumber();
});
