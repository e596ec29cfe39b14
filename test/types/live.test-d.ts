import { describe, expectTypeOf, test } from 'vitest';
import { Database, type LiveQuery, type LiveSnapshot, type Stored } from '../../src/index.ts';

interface Person {
  name: string;
  age: number;
  home: { city: string };
}

const db = new Database({ name: 'types' });
const people = new db.Collection<Person>({ name: 'people', type: 'DOCUMENT_BASED' });
const values = new db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });

describe('live queries', () => {
  test('have the type of their data', () => {
    expectTypeOf(people.live({})).toEqualTypeOf<LiveQuery<readonly Stored<Person>[]>>();
    expectTypeOf(people.liveCount()).toEqualTypeOf<LiveQuery<number>>();
    expectTypeOf(people.liveDocument('a')).toEqualTypeOf<LiveQuery<Stored<Person> | undefined>>();
    expectTypeOf(values.live('a')).toEqualTypeOf<LiveQuery<number | undefined>>();
    expectTypeOf(values.live<string>('a.b')).toEqualTypeOf<LiveQuery<string | undefined>>();
    const names = people.live({}, { select: ['name', 'home.city'] });
    names.subscribe(({ data }) => {
      expectTypeOf(data?.[0]?.home.city).toEqualTypeOf<string | undefined>();
      // @ts-expect-error not selected
      data?.[0]?.age;
    });
  });

  test('give handlers of a watch what they show', () => {
    const stop = people.watch(
      { age: { $gt: 1 } },
      {
        enter: (person, isInitial) => {
          expectTypeOf(person).toEqualTypeOf<Stored<Person>>();
          expectTypeOf(isInitial).toEqualTypeOf<boolean>();
        },
        update: (person, before) => expectTypeOf(before).toEqualTypeOf(person),
        error: (error) => expectTypeOf(error).toEqualTypeOf<Error>(),
      },
      { sort: { age: 1 }, limit: 2 },
    );
    expectTypeOf(stop).toEqualTypeOf<() => void>();
    const exit = ({ name }: { name: string }) => void name;
    people.watch({}, { exit }, { select: ['name'] });
    // @ts-expect-error not selected
    people.watch({}, { exit }, { select: ['age'] });
    // @ts-expect-error no such handler
    people.watch({}, { leave: exit });
    // @ts-expect-error a watch has no pages
    people.watch({}, { exit }, { after: { _id: 'a' } });
  });

  test('have defined data once they are ready', () => {
    const query = people.liveCount();
    expectTypeOf(query.getSnapshot()).toEqualTypeOf<LiveSnapshot<number>>();
    const snapshot = query.getSnapshot();
    if (snapshot.status === 'ready') expectTypeOf(snapshot.data).toEqualTypeOf<number>();
    else expectTypeOf(snapshot.data).toEqualTypeOf<number | undefined>();
    if (snapshot.status === 'error') expectTypeOf(snapshot.error).toEqualTypeOf<Error>();
    expectTypeOf(query.ready).resolves.toHaveProperty('data').toEqualTypeOf<number>();
    // @ts-expect-error may be undefined
    snapshot.data.toFixed();
    // @ts-expect-error read-only
    snapshot.status = 'ready';
  });

  test('check params and options', () => {
    people.live(
      { age: { $gt: 1 } },
      { sort: { 'home.city': -1 }, skip: 1, limit: 2, throttle: 50 },
    );
    people.live(({ age }) => age > 1, { where: ({ name }) => name !== '' });
    people.liveCount({ name: 'Ada' }, { archived: 'only' });
    // @ts-expect-error no such field
    people.live({ wage: 1 });
    // @ts-expect-error no such path
    people.live({}, { sort: { wage: 1 } });
    // @ts-expect-error no such path
    people.live({}, { select: ['wage'] });
    // @ts-expect-error live queries take no cursor
    people.live({}, { after: { _id: 'a' } });
    // @ts-expect-error a count takes no sort
    people.liveCount({}, { sort: { name: 1 } });
    // @ts-expect-error params are required
    people.live();
  });
});
