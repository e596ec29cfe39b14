import { expectTypeOf, test } from 'vitest';
import type {
  Collation,
  DocumentCollection,
  Explanation,
  FindOptions,
  IndexOption,
} from '../../src/index.ts';

interface User {
  name: string;
}

declare const users: DocumentCollection<User>;

test('a collation is a locale, or an object with one', () => {
  expectTypeOf<'sv'>().toExtend<Collation>();
  expectTypeOf<{ locale: 'sv'; strength: 2 }>().toExtend<Collation>();
  expectTypeOf<{ strength: 2 }>().not.toExtend<Collation>();
  expectTypeOf<{ locale: 'sv'; strength: 4 }>().not.toExtend<Collation>();
  expectTypeOf<{ locale: 'sv'; caseFirst: 'first' }>().not.toExtend<Collation>();
});

test('a partial index has criteria', () => {
  expectTypeOf<{ fields: 'n'; where: { _archived: false } }>().toExtend<IndexOption>();
  expectTypeOf<{ fields: 'n'; where: 'open' }>().not.toExtend<IndexOption>();
  expectTypeOf<Explanation['unfit']>().toEqualTypeOf<
    readonly { readonly index: string; readonly why: 'collation' | 'where' }[] | undefined
  >();
});

test('queries, live queries, changes and indexes take one', () => {
  expectTypeOf<FindOptions<User>['collation']>().toEqualTypeOf<Collation | undefined>();
  void users.filter({ name: 'a' }, { collation: 'sv' });
  void users.deleteMany({ name: 'a' }, { collation: { locale: 'sv', strength: 1 } });
  void users.patchMany({ name: 'a' }, { name: 'b' }, { collation: 'sv' });
  users.liveCount({ name: 'a' }, { collation: { locale: 'sv', numeric: true } });
  expectTypeOf<{ fields: 'name'; collation: 'sv' }>().toExtend<IndexOption>();
  // @ts-expect-error a strength is a number
  void users.count({}, { collation: { locale: 'sv', strength: '2' } });
});
