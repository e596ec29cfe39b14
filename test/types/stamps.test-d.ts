import { describe, expectTypeOf, test } from 'vitest';
import {
  type AnyDocument,
  type CollectionOptions,
  Database,
  type DocumentCollection,
  type DocumentCollectionOptions,
  type KeyValueCollection,
  type Stored,
} from '../../src/index.ts';

interface User {
  name: string;
}

const db = new Database({ name: 'types' });
const named = { name: 'users', type: 'DOCUMENT_BASED' } as const;

/** A document of the collection, at type level. */
declare function one<D>(collection: { get(id: string): Promise<D | undefined> }): D;

describe('stamps are on the type when their option is on', () => {
  test('none without options, with false and with undefined', () => {
    const users = [
      one(new db.Collection<User>(named)),
      one(new db.Collection<User>({ ...named, indicate_created_at: false })),
      one(new db.Collection<User>({ ...named, indicate_edited_at: undefined })),
    ];
    const [user] = users;
    expectTypeOf(users).toEqualTypeOf<Stored<User>[]>();
    // @ts-expect-error its option is off
    user?._created_at;
    // @ts-expect-error its option is off
    user?._updated_timestamp;
    // @ts-expect-error its option is off
    user?._unarchived_at;
  });

  test('exactly the enabled ones', () => {
    const user = one(
      new db.Collection<User>({
        ...named,
        indicate_created_at: true,
        indicate_updated_timestamp: true,
        indicate_archived_at: true,
        indicate_unarchived_timestamp: false,
      }),
    );
    expectTypeOf(user).toEqualTypeOf<
      Stored<User, '_created_at' | '_updated_timestamp' | '_archived_at'>
    >();
    expectTypeOf(user._created_at).toEqualTypeOf<Date>();
    expectTypeOf(user._updated_timestamp).toEqualTypeOf<number | undefined>();
    expectTypeOf(user._archived_at).toEqualTypeOf<Date | undefined>();
    // @ts-expect-error its option is off
    user._created_timestamp;
    // @ts-expect-error its option is off
    user._updated_at;
    // @ts-expect-error its option is off
    user._unarchived_timestamp;
  });

  test('in both spellings', () => {
    const edited = new db.Collection<User>({ ...named, indicate_edited_at: true });
    const updated = new db.Collection<User>({ ...named, indicate_updated_at: true });
    const both = new db.Collection<User>({
      ...named,
      indicate_edited_timestamp: true,
      indicate_updated_timestamp: true,
    });
    expectTypeOf(edited).toEqualTypeOf(updated);
    expectTypeOf(one(edited)._updated_at).toEqualTypeOf<Date | undefined>();
    expectTypeOf(both).toEqualTypeOf<DocumentCollection<User, '_updated_timestamp'>>();
    // @ts-expect-error documents have one spelling
    one(edited)._edited_at;
  });

  test('all of them', () => {
    const users = new db.Collection<User>({
      ...named,
      indicate_created_at: true,
      indicate_created_timestamp: true,
      indicate_edited_at: true,
      indicate_edited_timestamp: true,
      indicate_archived_at: true,
      indicate_archived_timestamp: true,
      indicate_unarchived_at: true,
      indicate_unarchived_timestamp: true,
    });
    expectTypeOf(one(users)._created_timestamp).toEqualTypeOf<number>();
    expectTypeOf(one(users)._unarchived_timestamp).toEqualTypeOf<number | undefined>();
  });

  test('without a type of the document', () => {
    const things = new db.Collection({ ...named, indicate_created_at: true });
    expectTypeOf(things).toEqualTypeOf<DocumentCollection<AnyDocument, '_created_at'>>();
    expectTypeOf(one(things)._created_at).toEqualTypeOf<Date>();
  });

  test('optional if the option is known only at run time', () => {
    const asked = Boolean(Math.random());
    const users = new db.Collection<User>({ ...named, indicate_created_at: asked });
    expectTypeOf(one(users)._created_at).toEqualTypeOf<Date | undefined>();
    const options: DocumentCollectionOptions = named;
    expectTypeOf(one(new db.Collection<User>(options))._updated_at).toEqualTypeOf<
      Date | undefined
    >();
    const any: CollectionOptions = named;
    expectTypeOf(new db.Collection<User>(any)).toExtend<
      DocumentCollection<User> | KeyValueCollection<User>
    >();
  });
});

describe('a collection with stamps', () => {
  const users = new db.Collection<User>({ ...named, indicate_created_at: true });

  test('can be queried by them', () => {
    users.find({ _created_at: { $gt: new Date() } }, { sort: { _created_at: -1 } });
    users.filter(({ _created_at }) => _created_at.getTime() > 0);
    // @ts-expect-error its option is off
    users.find({ _updated_at: new Date() });
    // @ts-expect-error a Date is expected
    users.find({ _created_at: 5 });
    // @ts-expect-error its option is off
    users.find({}, { sort: { _updated_at: 1 } });
    // @ts-expect-error its option is off
    users.filter(({ _updated_at }) => _updated_at);
  });

  test('is assignable to one without them, not the other way round', () => {
    const plain: DocumentCollection<User> = users;
    // @ts-expect-error its documents have no such stamp
    const stamped: DocumentCollection<User, '_created_at'> = plain;
    expectTypeOf(stamped.name).toEqualTypeOf<string>();
  });

  test('accepts its documents back, stamps included', () => {
    const user = one(users);
    users.update(user._id, { ...user, name: 'Ada' });
    users.insert({ name: 'Ada', _created_at: new Date() });
    const other = new db.Collection<User>(named);
    other.insert(user);
    // @ts-expect-error no stamp
    other.insert({ name: 'Ada', _created: new Date() });
  });

  test('reserves the names of its managed fields', () => {
    interface Odd {
      _created_at: string;
      name: string;
    }
    const odd = one(new db.Collection<Odd>(named));
    // @ts-expect-error values of the caller are ignored, and its option is off
    odd._created_at;
    expectTypeOf(odd.name).toEqualTypeOf<string>();
  });
});
