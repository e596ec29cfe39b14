import { describe, expectTypeOf, test } from 'vitest';
import { Database, type Params, type Stored } from '../../src/index.ts';

interface Person {
  name: string;
  age: number;
  born?: Date;
  tags: string[];
  home: { city: string };
}

const db = new Database({ name: 'types' });
const people = new db.Collection<Person>({ name: 'people', type: 'DOCUMENT_BASED' });
const ada = { name: 'Ada', age: 36, tags: [], home: { city: 'London' } };

describe('documents', () => {
  test('are returned with their managed fields', () => {
    expectTypeOf<Stored<Person>['_id']>().toEqualTypeOf<string>();
    expectTypeOf<Stored<Person>['_updated']>().toEqualTypeOf<boolean>();
    expectTypeOf<Stored<Person>['_archived']>().toEqualTypeOf<boolean>();
    expectTypeOf<Stored<Person>['name']>().toEqualTypeOf<string>();
    expectTypeOf<Stored<Person>['born']>().toEqualTypeOf<Date | undefined>();
    // @ts-expect-error no such field
    type Nothing = Stored<Person>['nothing'];
    expectTypeOf<Nothing>().toBeAny();
  });

  test('every method has its own result type', () => {
    expectTypeOf(people.insert(ada)).resolves.toEqualTypeOf<Stored<Person>>();
    expectTypeOf(people.insertMany([ada])).resolves.toEqualTypeOf<Stored<Person>[]>();
    expectTypeOf(people.upsert(ada)).resolves.toEqualTypeOf<Stored<Person>>();
    expectTypeOf(people.get('a')).resolves.toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf(people.find({})).resolves.toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf(people.filter({})).resolves.toEqualTypeOf<Stored<Person>[]>();
    expectTypeOf(people.has({})).resolves.toEqualTypeOf<boolean>();
    expectTypeOf(people.count()).resolves.toEqualTypeOf<number>();
    expectTypeOf(people.update('a', ada)).resolves.toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf(people.patch('a', {})).resolves.toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf(people.archive('a')).resolves.toEqualTypeOf<boolean>();
    expectTypeOf(people.unarchive('a')).resolves.toEqualTypeOf<boolean>();
    expectTypeOf(people.delete('a')).resolves.toEqualTypeOf<boolean>();
    expectTypeOf(people.deleteMany({})).resolves.toEqualTypeOf<number>();
    expectTypeOf(people.save()).resolves.toEqualTypeOf<void>();
    expectTypeOf(people.ready).resolves.toEqualTypeOf<void>();
    expectTypeOf(people.Drop()).resolves.toEqualTypeOf<true>();
  });

  test('a found document can be passed back', () => {
    const found = {} as Stored<Person>;
    people.update(found._id, found);
    people.insert(found);
    people.upsert({ ...ada, _id: 'ada' });
  });

  test('of the wrong shape are rejected', () => {
    // @ts-expect-error fields are missing
    people.insert({ name: 'Ada' });
    // @ts-expect-error age is a number
    people.insert({ ...ada, age: '36' });
    // @ts-expect-error no such field
    people.insert({ ...ada, wage: 5 });
    // @ts-expect-error an id is a string
    people.insert({ ...ada, _id: 5 });
    // @ts-expect-error a list
    people.insertMany(ada);
    // @ts-expect-error update replaces: fields are missing
    people.update('a', { age: 5 });
    // @ts-expect-error the id comes first
    people.update(ada);
    // @ts-expect-error an id is a string
    people.delete(5);
    // @ts-expect-error an id is required
    people.archive();
  });
});

describe('params', () => {
  test('criteria are checked against the fields', () => {
    people.find({ name: 'Ada', age: { $gte: 18 }, tags: 'math' });
    people.find({ 'home.city': { $in: ['Oslo'] } });
    people.find({ _id: 'a', _updated: true, _archived: { $ne: true } });
    people.find({ 'home.city': /^O/, 'tags.0': 'math' });
    people.find({ $or: [{ name: /^A/ }, { born: { $exists: false } }] });
    // @ts-expect-error no such field
    people.find({ wage: 5 });
    // @ts-expect-error age is a number
    people.find({ age: 'old' });
    // @ts-expect-error no such path
    people.find({ 'home.town': 'Oslo' });
    // @ts-expect-error the city is a string
    people.find({ 'home.city': 5 });
    // @ts-expect-error its option is off
    people.find({ _created_at: { $lt: new Date() } });
    // @ts-expect-error no such operator
    people.find({ age: { $gtt: 5 } });
    // @ts-expect-error params are required
    people.find();
    // @ts-expect-error params are required
    people.deleteMany();
    // @ts-expect-error params are an object or a function
    people.filter('Ada');
  });

  test('a predicate gets a stored document', () => {
    people.filter((person) => {
      expectTypeOf(person).toEqualTypeOf<Stored<Person>>();
      return person.age > 18 && person._archived;
    });
    expectTypeOf<(person: Stored<Person>) => unknown>().toExtend<Params<Person>>();
    // @ts-expect-error no such field
    people.has(({ wage }) => wage > 5);
  });

  test('options', () => {
    people.find({}, { archived: true });
    people.filter({}, { archived: 'only' });
    people.count({}, { archived: undefined });
    people.deleteMany({}, { archived: false });
    // @ts-expect-error true, false or 'only'
    people.find({}, { archived: 'yes' });
    // @ts-expect-error no such option
    people.find({}, { archive: true });
    // @ts-expect-error deleteMany takes no sort
    people.deleteMany({}, { sort: { age: 1 } });
    // @ts-expect-error has takes no limit
    people.has({}, { limit: 1 });
  });
});

describe('sync', () => {
  test('has the same methods without promises', () => {
    const { sync } = people;
    expectTypeOf(sync.insert(ada)).toEqualTypeOf<Stored<Person>>();
    expectTypeOf(sync.insertMany([ada])).toEqualTypeOf<Stored<Person>[]>();
    expectTypeOf(sync.find({ name: 'Ada' })).toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf(sync.filter(({ age }) => age > 1)).toEqualTypeOf<Stored<Person>[]>();
    expectTypeOf(sync.has({})).toEqualTypeOf<boolean>();
    expectTypeOf(sync.count()).toEqualTypeOf<number>();
    expectTypeOf(sync.update('a', ada)).toEqualTypeOf<Stored<Person> | undefined>();
    expectTypeOf(sync.delete('a')).toEqualTypeOf<boolean>();
    expectTypeOf(sync.deleteMany({})).toEqualTypeOf<number>();
    // @ts-expect-error not a promise
    sync.find({}).then();
    // @ts-expect-error no such field
    sync.find({ wage: 5 });
  });
});
