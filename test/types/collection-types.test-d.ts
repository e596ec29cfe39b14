import { expectTypeOf, test } from 'vitest';
import {
  type CriteriaOf,
  Database,
  type DocumentOf,
  type KeyValueCollection,
  type Sort,
  type SortOf,
  type Stored,
} from '../../src/index.ts';

interface Book {
  title: string;
  pages: number;
  tags: string[];
  publisher: { name: string };
  authors: { name: string }[];
}

const db = new Database({ name: 'types' });
const books = new db.Collection<Book>({
  name: 'books',
  type: 'DOCUMENT_BASED',
  indicate_created_at: true,
});
const anything = new db.Collection({ name: 'any', type: 'DOCUMENT_BASED' });

test('DocumentOf is the stored document of a collection, with its stamps', () => {
  expectTypeOf<DocumentOf<typeof books>>().toEqualTypeOf<Stored<Book, '_created_at'>>();
  expectTypeOf<DocumentOf<typeof anything>>().toEqualTypeOf<Stored>();
  // @ts-expect-error keys and values are no documents
  type None = DocumentOf<KeyValueCollection<string>>;
  expectTypeOf<None>().toBeNever();
});

test('CriteriaOf can be built step by step', () => {
  const criteria: CriteriaOf<typeof books> = {};
  criteria.pages = 3;
  criteria.pages = { $gt: 3 };
  criteria['publisher.name'] = /^O/;
  criteria['authors.0.name'] = 'Ada';
  criteria._created_at = { $lt: new Date() };
  criteria.$or = [{ title: 'A' }, { tags: 'b' }];
  books.filter(criteria);
  books.live(criteria);
  // @ts-expect-error no such field
  criteria.page = 3;
  // @ts-expect-error a number
  criteria.pages = '3';
  const any: CriteriaOf<typeof anything> = {};
  any[String('path')] = { $gt: 3 };
  anything.find(any);
});

test('SortOf can be built step by step', () => {
  const sort: SortOf<typeof books> = {};
  sort.title = 1;
  sort['publisher.name'] = -1;
  sort['authors.0.name'] = 1;
  sort._created_at = -1;
  books.filter({}, { sort });
  // @ts-expect-error no such field
  sort.titel = 1;
  // @ts-expect-error 1 or -1
  sort.title = 2;
  // @ts-expect-error an object cannot be sorted by
  sort.publisher = 1;
});

test('a sort takes columns that are known only at run time', () => {
  const column = 'title' as keyof Book;
  const name = 'title' as 'title' | 'publisher.name';
  const direction = Math.random() < 0.5 ? 1 : -1;
  books.filter({}, { sort: { [column]: 1 } });
  books.filter({}, { sort: { [name]: direction, _id: 1 } });
  books.filter({}, { sort: { pages: 1, [String(column)]: -1 } });
  const sort: SortOf<typeof books> = { [column]: direction };
  sort.title = 1;
  const scalar = 'title' as 'title' | 'pages';
  sort[scalar] = direction;
  expectTypeOf<{ title: 1 }>().toExtend<Sort<Book>>();
  // @ts-expect-error 1 or -1
  books.filter({}, { sort: { [column]: 'asc' } });
  // @ts-expect-error no such field, beside a computed one
  books.filter({}, { sort: { titel: 1, [column]: 1 } });
});
