import { expectTypeOf, test } from 'vitest';
import { Database, type DocumentCollection, type Stored } from '../../src/index.ts';
import {
  type Conflict,
  mergeFields,
  newest,
  type Remote,
  replicate,
} from '../../src/replication/index.ts';

interface Book {
  title: string;
  pages: number;
}

declare const remote: Remote;
const db = new Database({ name: 'types' });
const books = new db.Collection<Book>({ name: 'books', type: 'DOCUMENT_BASED' });
const settings = new db.Collection<number>({ name: 'settings', type: 'KEY_VALUE_BASED' });

test('a replication has the type of its documents', () => {
  const sync = replicate(books, {
    remote,
    resolve({ local, remote: theirs }) {
      expectTypeOf(local).toEqualTypeOf<Stored<Book> | undefined>();
      return local && theirs ? { ...theirs, pages: Math.max(local.pages, theirs.pages) } : local;
    },
  });
  expectTypeOf(sync.conflicts()).toEqualTypeOf<readonly Conflict<Stored<Book>>[]>();
  sync.on('conflict', ({ result }) =>
    expectTypeOf(result?.title).toEqualTypeOf<string | undefined>(),
  );
  // @ts-expect-error a resolver returns a document
  replicate(books, { remote, resolve: () => ({ title: 3 }) });
});

test('a failure has a code, and a collection may have a schema with defaults', () => {
  type Input = { title: string; pages?: number };
  const lenient = books as unknown as DocumentCollection<Book, '_created_at', Input>;
  const sync = replicate(lenient, { remote });
  sync.on('conflict', ({ result }) =>
    expectTypeOf(result?.pages).toEqualTypeOf<number | undefined>(),
  );
  expectTypeOf(sync.status.error?.code).toEqualTypeOf<string | undefined>();
});

test('values replicate as documents', () => {
  const sync = replicate(settings, { remote, resolve: ({ remote: theirs }) => theirs });
  sync.on('conflict', ({ local }) =>
    expectTypeOf(local).toEqualTypeOf<
      { readonly _id: string; readonly value: number } | undefined
    >(),
  );
});

test('presets fit each collection', () => {
  replicate(books, { remote, resolve: mergeFields });
  replicate(settings, { remote, resolve: newest('value') });
});
