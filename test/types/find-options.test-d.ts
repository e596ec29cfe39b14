import { describe, expectTypeOf, test } from 'vitest';
import {
  Database,
  type FieldPath,
  type FindOptions,
  type Path,
  type Selected,
  type Sort,
  type Stored,
} from '../../src/index.ts';

interface Book {
  title: string;
  pages: number;
  printed?: Date;
  tags: string[];
  publisher: { name: string; address: { city: string; zip: string } };
  readonly authors: readonly { name: string; born: number }[];
  sequel?: { title: string; pages: number } | null;
  cover: Map<string, string>;
  notes: Record<string, string>;
}

const db = new Database({ name: 'types' });
const books = new db.Collection<Book>({ name: 'books', type: 'DOCUMENT_BASED' });
const anything = new db.Collection({ name: 'any', type: 'DOCUMENT_BASED' });

describe('sort', () => {
  test('takes paths and directions', () => {
    books.find({}, { sort: { title: 1 } });
    books.filter({}, { sort: { 'publisher.address.city': -1, printed: 1, _id: 1 } });
    books.filter({}, { sort: { 'authors.born': 1, 'authors.0.name': 1, tags: -1, 'tags.0': 1 } });
    books.filter(({ pages }) => pages > 5, { sort: { 'sequel.pages': -1 }, skip: 20, limit: 10 });
    anything.filter({}, { sort: { 'any.path': 1 } });
    expectTypeOf<{ title: 1 }>().toExtend<Sort<Book>>();
  });

  test('refuses anything else', () => {
    // @ts-expect-error no such path
    books.filter({}, { sort: { titel: 1 } });
    // @ts-expect-error no such path
    books.filter({}, { sort: { 'publisher.city': 1 } });
    // @ts-expect-error 1 or -1
    books.filter({}, { sort: { title: 2 } });
    // @ts-expect-error 1 or -1
    books.filter({}, { sort: { title: 'asc' } });
    // @ts-expect-error an object cannot be sorted by
    books.filter({}, { sort: { publisher: 1 } });
    // @ts-expect-error nor can objects in an array
    books.filter({}, { sort: { authors: 1 } });
    // @ts-expect-error paths with directions
    books.filter({}, { sort: 'title' });
    // @ts-expect-error 1 or -1
    anything.filter({}, { sort: { any: 2 } });
  });
});

describe('select', () => {
  test('types the results to the paths, with _id', async () => {
    const [book] = await books.filter(
      {},
      { select: ['title', 'publisher.address.city', 'printed'] },
    );
    expectTypeOf(book).toEqualTypeOf<
      | {
          _id: string;
          title: string;
          publisher: { address: { city: string } };
          printed?: Date;
        }
      | undefined
    >();
    // @ts-expect-error not selected
    book?.pages;
    // @ts-expect-error not selected
    book?.publisher.name;
    // @ts-expect-error not selected
    book?._archived;
  });

  test('follows arrays and optional fields', () => {
    const select = ['authors.name', 'sequel.title', '_archived'] as const;
    expectTypeOf(books.find({}, { select, limit: 1 })).resolves.toEqualTypeOf<
      | {
          _id: string;
          _archived: boolean;
          readonly authors: readonly { name: string }[];
          sequel?: { title: string } | null;
        }
      | undefined
    >();
    type Whole = Selected<Stored<Book>, ['publisher', 'publisher.name', 'tags', 'cover']>;
    expectTypeOf<Whole>().toEqualTypeOf<
      Pick<Stored<Book>, '_id' | 'publisher' | 'tags' | 'cover'>
    >();
  });

  test('takes an object that keeps fields or leaves them out', () => {
    expectTypeOf(
      books.find({}, { select: { title: 1, 'publisher.address.city': true } }),
    ).resolves.toEqualTypeOf<
      { _id: string; title: string; publisher: { address: { city: string } } } | undefined
    >();
    expectTypeOf(books.find({}, { select: { title: 1, _id: 0 } })).resolves.toEqualTypeOf<
      { title: string } | undefined
    >();
    const left = { publisher: 0, authors: 0, 'sequel.title': 0 } as const;
    expectTypeOf(books.find({}, { select: left })).resolves.toExtend<
      Omit<Stored<Book>, 'publisher' | 'authors' | 'sequel'> | undefined
    >();
    expectTypeOf(
      books.find({}, { select: { tags: { $slice: 2 }, title: 1 } }),
    ).resolves.toEqualTypeOf<Pick<Stored<Book>, '_id' | 'title' | 'tags'> | undefined>();
    // @ts-expect-error no such path
    books.filter({}, { select: { titel: 1 } });
    // @ts-expect-error 1 or 0
    books.filter({}, { select: { title: 2 } });
  });

  test('returns whole documents if it is left out', () => {
    expectTypeOf(books.filter({}, { sort: { title: 1 } })).resolves.toEqualTypeOf<Stored<Book>[]>();
    expectTypeOf(books.find({}, { select: undefined })).resolves.toEqualTypeOf<
      Stored<Book> | undefined
    >();
    const options: FindOptions<Book> = { limit: 5 };
    expectTypeOf(books.filter({}, options)).resolves.toEqualTypeOf<Stored<Book>[]>();
  });

  test('makes every field optional if the list is not known', async () => {
    const select: FieldPath<Stored<Book>>[] = ['title'];
    const book = await books.find({}, { select });
    expectTypeOf(book?._id).toEqualTypeOf<string | undefined>();
    expectTypeOf(book?.publisher?.address?.city).toEqualTypeOf<string | undefined>();
    // @ts-expect-error it may not be selected
    book?.publisher.name;
  });

  test('keeps the fields of documents without a type', () => {
    expectTypeOf(anything.find({}, { select: ['a.b'] })).resolves.toExtend<
      { _id: string; [field: string]: unknown } | undefined
    >();
  });

  test('types each member of a union', () => {
    type Shape = { kind: 'circle'; radius: number } | { kind: 'box'; size: { width: number } };
    const shapes = new db.Collection<Shape>({ name: 'shapes', type: 'DOCUMENT_BASED' });
    expectTypeOf(shapes.find({}, { select: ['kind', 'size.width'] })).resolves.toEqualTypeOf<
      | { _id: string; kind: 'circle' }
      | { _id: string; kind: 'box'; size: { width: number } }
      | undefined
    >();
  });

  test('refuses unknown paths', () => {
    // @ts-expect-error no such path
    books.filter({}, { select: ['title', 'titel'] });
    // @ts-expect-error no such path
    books.filter({}, { select: ['publisher.city'] });
    // @ts-expect-error a field of all items, not of one
    books.filter({}, { select: ['authors.0.name'] });
    // @ts-expect-error a list
    books.filter({}, { select: 'title' });
    // @ts-expect-error its option is off
    books.filter({}, { select: ['_created_at'] });
  });
});

describe('paging and narrowing', () => {
  test('take their values', async () => {
    const [last] = await books.filter({}, { sort: { pages: 1 }, limit: 10 });
    books.filter({}, { sort: { pages: 1 }, limit: 10, after: last });
    const [part] = await books.filter({}, { select: ['publisher.address.city'] });
    books.filter({}, { sort: { 'publisher.address.city': 1 }, after: part });
    books.filter({}, { sort: { pages: 1 }, after: { _id: 'a', pages: 5 } });
    books.filter({ pages: 5 }, { where: ({ title }) => title.startsWith('A') });
    books.has({ pages: 5 }, { where: ({ title }) => title.startsWith('A') });
    books.filter({}, { signal: AbortSignal.timeout(5) });
    books.count({}, { archived: true, skip: 5, limit: 10, signal: new AbortController().signal });
    books.sync.filter({}, { sort: { pages: 1 } });
  });

  test('refuse anything else', () => {
    // @ts-expect-error a number
    books.filter({}, { skip: '5' });
    // @ts-expect-error a number
    books.filter({}, { limit: null });
    // @ts-expect-error a document has an _id
    books.filter({}, { after: { pages: 5 } });
    // @ts-expect-error no such field
    books.filter({}, { after: { _id: 'a', page: 5 } });
    // @ts-expect-error a function
    books.filter({}, { where: { pages: 5 } });
    // @ts-expect-error no such field
    books.filter({}, { where: ({ titel }) => titel });
    // @ts-expect-error a signal, not its controller
    books.filter({}, { signal: new AbortController() });
  });
});

test('paths', () => {
  expectTypeOf<'publisher.address.zip'>().toExtend<Path<Book>>();
  expectTypeOf<'authors.3.name'>().toExtend<Path<Book>>();
  expectTypeOf<'authors.3.name'>().not.toExtend<FieldPath<Book>>();
  expectTypeOf<'authors.born'>().toExtend<FieldPath<Book>>();
  expectTypeOf<'notes.any'>().toExtend<Path<Book>>();
  expectTypeOf<'cover.size'>().not.toExtend<Path<Book>>();
  expectTypeOf<Path<{ a: string; b: { c: Date[] } }>>().toEqualTypeOf<
    'a' | 'b' | 'b.c' | `b.c.${number}`
  >();
});
