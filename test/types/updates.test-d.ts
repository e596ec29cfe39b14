import { describe, expectTypeOf, test } from 'vitest';
import {
  Database,
  type Patch,
  type PatchFields,
  type Stored,
  type Update,
} from '../../src/index.ts';

interface Line {
  sku: string;
  amount: number;
  price?: { net: number; currency: 'EUR' | 'USD' };
}

interface Person {
  name: string;
  age?: number;
  score: number | null;
  coins: bigint;
  active: boolean;
  born?: Date;
  seen: number;
  tags: string[];
  nicknames?: string[] | null;
  readonly roles: readonly ('admin' | 'guest')[];
  grid: number[][];
  lines: Line[];
  home: { city: string; zip?: string };
  job?: { title: string; boss?: { name: string } } | null;
  notes: Record<string, string>;
  extra: unknown;
}

const db = new Database({ name: 'types' });
const people = new db.Collection<Person>({
  name: 'people',
  type: 'DOCUMENT_BASED',
  indicate_created_at: true,
});
const anything = new db.Collection({ name: 'any', type: 'DOCUMENT_BASED' });
const line: Line = { sku: 'a', amount: 1 };

describe('fields', () => {
  test('take values by name and by dotted path', () => {
    people.patch('a', {});
    people.patch('a', { name: 'Ada', age: 36, tags: [], home: { city: 'Oslo' } });
    people.patch('a', { 'home.city': 'Oslo', 'job.boss.name': 'Ada', job: null });
    people.patch('a', {
      'lines.0.price.net': 5,
      'lines.12': line,
      'grid.0.1': 5,
      'roles.0': 'guest',
    });
    people.patch('a', { 'notes.any': 'thing', 'extra.any.thing': 5 });
    people.patch('a', { age: undefined, name: undefined, 'home.city': undefined });
    expectTypeOf(people.patch('a', { name: 'Ada' })).resolves.toEqualTypeOf<
      Stored<Person, '_created_at'> | undefined
    >();
    expectTypeOf(people.sync.patch('a', { name: 'Ada' })).toEqualTypeOf<
      Stored<Person, '_created_at'> | undefined
    >();
  });

  test('take a found document, part of one, and values of an interface', async () => {
    const found = await people.get('a');
    if (found) people.patch('a', found);
    if (found) people.patch('a', { $set: found });
    people.patch('a', { ...found, _id: 'b', _updated_at: new Date(), _archived: true, age: 5 });
    people.patch('a', {} as Person);
    people.patch('a', {} as Partial<Person>);
    interface Form {
      name?: string | undefined;
      age?: number;
    }
    people.patch('a', {} as Form);
    people.patch('a', { $set: {} as Form });
  });

  test('take a path that is known only at run time', () => {
    people.patch('a', { [String('name')]: 'Ada' });
    people.patch('a', { ['name' as 'name' | 'home.city']: 'Ada', age: 5 });
    people.patch('a', { $set: { [String('name')]: 'Ada' }, $unset: { [String('tags')]: true } });
    people.patch('a', { $inc: { ['age' as 'age' | 'seen']: 1 }, $pop: { [String('tags')]: 1 } });
  });

  test('refuse what the documents cannot hold', () => {
    // @ts-expect-error no such field
    people.patch('a', { nmae: 'Ada' });
    // @ts-expect-error no such field, beside one that exists
    people.patch('a', { name: 'Ada', nmae: 'Ada' });
    // @ts-expect-error the name is a string
    people.patch('a', { name: 5 });
    // @ts-expect-error the age is a number
    people.patch('a', { name: 'Ada', age: '36' });
    // @ts-expect-error no such path
    people.patch('a', { 'home.town': 'Oslo' });
    // @ts-expect-error the city is a string
    people.patch('a', { name: 'Ada', 'home.city': 5 });
    // @ts-expect-error the title is a string
    people.patch('a', { 'job.title': 5 });
    // @ts-expect-error no such field in the object
    people.patch('a', { home: { city: 'Oslo', town: 'Oslo' } });
    // @ts-expect-error an object replaces the whole: the city is missing
    people.patch('a', { home: { zip: '0150' } });
    // @ts-expect-error the tags are strings
    people.patch('a', { name: 'Ada', 'tags.0': 5 });
    // @ts-expect-error null is no name
    people.patch('a', { name: null });
    // @ts-expect-error a change sets one item, not all of them
    people.patch('a', { 'lines.sku': 'b' });
    // @ts-expect-error the sku is a string
    people.patch('a', { 'lines.$[].sku': 5 });
    // @ts-expect-error the sku is a string
    people.patch('a', { 'lines.$[line].sku': 5 }, { array_filters: [{ 'line.sku': 'a' }] });
    // @ts-expect-error no such field in the items
    people.patchMany({ 'lines.sku': 'a' }, { 'lines.$.name': 'b' });
    // @ts-expect-error filters are a list
    people.patch('a', { 'lines.$[].sku': 'b' }, { array_filters: {} });
    // @ts-expect-error a Date has no fields
    people.patch('a', { 'born.year': 5 });
    // @ts-expect-error an id is a string
    people.patch('a', { _id: 5 });
    // @ts-expect-error an object
    people.patch('a', 'name');
    // @ts-expect-error an object
    people.patch('a', []);
    // @ts-expect-error changes are required
    people.patch('a');
    // @ts-expect-error no such field
    people.sync.patch('a', { nmae: 'Ada' });
  });
});

describe('operators', () => {
  test('are not mixed with fields', () => {
    people.patch('a', { $inc: { age: 1 }, $set: { name: 'Ada' } });
    // @ts-expect-error a field beside an operator
    people.patch('a', { name: 'Ada', $inc: { age: 1 } });
    // @ts-expect-error a path beside an operator
    people.patch('a', { 'home.city': 'Oslo', $set: { name: 'Ada' } });
    // @ts-expect-error a managed field beside an operator
    people.patch('a', { _id: 'a', $set: { name: 'Ada' } });
    // @ts-expect-error a field beside an operator
    anything.patch('a', { name: 'Ada', $inc: { age: 1 } });
    // @ts-expect-error no such operator
    people.patch('a', { $ince: { age: 1 } });
    // @ts-expect-error the age is a number
    people.patchOne({ name: 'Ada' }, { $setOnInsert: { age: '1' } }, { upsert: true });
    // @ts-expect-error an operator takes an object
    people.patch('a', { $inc: 1 });
    // @ts-expect-error an operator takes an object
    people.patch('a', { $unset: ['age'] });
  });

  test('$set', () => {
    people.patch('a', { $set: { name: 'Ada', 'home.city': 'Oslo', age: undefined, job: null } });
    people.patch('a', { $set: { 'lines.0.amount': 5, 'extra.any': 5, _id: 'a' } });
    // @ts-expect-error no such field
    people.patch('a', { $set: { nmae: 'Ada' } });
    // @ts-expect-error no such path
    people.patch('a', { $set: { name: 'Ada', 'home.town': 'Oslo' } });
    // @ts-expect-error the city is a string
    people.patch('a', { $set: { name: 'Ada', 'home.city': 5 } });
    // @ts-expect-error an operator is no field
    people.patch('a', { $set: { $inc: { age: 1 } } });
  });

  test('$unset', () => {
    people.patch('a', { $unset: { age: true, 'home.zip': '', 'tags.0': 1, 'job.boss': true } });
    // @ts-expect-error no such field
    people.patch('a', { $unset: { nmae: true } });
    // @ts-expect-error false would read as: keep it
    people.patch('a', { $unset: { age: false } });
    // @ts-expect-error a managed field
    people.patch('a', { $unset: { _created_at: true } });
  });

  test('$inc and $mul', () => {
    people.patch('a', { $inc: { age: 1, score: -0.5, coins: 2n, 'lines.0.price.net': 1 } });
    people.patch('a', { $mul: { age: 2, coins: 2n, 'grid.0.1': 3, extra: 2n, 'extra.any': 4 } });
    // @ts-expect-error a string
    people.patch('a', { $inc: { name: 1 } });
    // @ts-expect-error a Date
    people.patch('a', { $mul: { born: 1 } });
    // @ts-expect-error an array of numbers is no number
    people.patch('a', { $inc: { grid: 1 } });
    // @ts-expect-error a string in the items
    people.patch('a', { $inc: { 'lines.0.sku': 1 } });
    // @ts-expect-error a number adds to a number
    people.patch('a', { $inc: { age: 1n } });
    // @ts-expect-error a bigint multiplies a bigint
    people.patch('a', { $mul: { coins: 2 } });
    // @ts-expect-error a number
    people.patch('a', { $inc: { age: '1' } });
    // @ts-expect-error a number
    people.patch('a', { $inc: { age: null } });
    // @ts-expect-error one item, not all of them
    people.patch('a', { $inc: { 'lines.amount': 1 } });
    // @ts-expect-error a managed field
    people.patch('a', { $inc: { _created_at: 1 } });
  });

  test('$min and $max', () => {
    people.patch('a', {
      $min: { age: 5, born: new Date() },
      $max: { name: 'b', 'lines.0.amount': 5 },
    });
    // @ts-expect-error the age is a number
    people.patch('a', { $min: { age: '5' } });
    // @ts-expect-error no such path
    people.patch('a', { $max: { 'home.town': 'b' } });
  });

  test('$rename', () => {
    people.patch('a', { $rename: { age: 'years', 'home.zip': 'home.code' } });
    // @ts-expect-error no such field
    people.patch('a', { $rename: { nmae: 'name' } });
    // @ts-expect-error a path
    people.patch('a', { $rename: { name: 5 } });
  });

  test('$currentDate', () => {
    people.patch('a', { $currentDate: { born: true, seen: { $type: 'timestamp' } } });
    people.patch('a', { $currentDate: { born: { $type: 'date' }, extra: true, 'extra.at': true } });
    // @ts-expect-error neither a Date nor a number
    people.patch('a', { $currentDate: { name: true } });
    // @ts-expect-error true sets a Date
    people.patch('a', { $currentDate: { seen: true } });
    // @ts-expect-error a timestamp is a number
    people.patch('a', { $currentDate: { born: { $type: 'timestamp' } } });
    people.patch('a', { $currentDate: { born: false } });
    // @ts-expect-error a boolean
    people.patch('a', { $currentDate: { born: 1 } });
  });

  test('$push', () => {
    people.patch('a', {
      $push: { tags: 'a', roles: 'admin', nicknames: 'b', lines: line, grid: [1] },
    });
    people.patch('a', { $push: { 'grid.0': 5, extra: 5, 'extra.list': { $each: [5] } } });
    people.patch('a', { $push: { tags: { $each: ['a'], $position: 0, $slice: -5, $sort: -1 } } });
    people.patch('a', { $push: { lines: { $each: [line], $sort: { 'price.net': -1, sku: 1 } } } });
    // @ts-expect-error the tags are strings
    people.patch('a', { $push: { tags: 5 } });
    // @ts-expect-error the roles are two
    people.patch('a', { $push: { roles: 'owner' } });
    // @ts-expect-error no array
    people.patch('a', { $push: { name: 'a' } });
    // @ts-expect-error the amount is missing
    people.patch('a', { $push: { lines: { sku: 'a' } } });
    // @ts-expect-error a list
    people.patch('a', { $push: { tags: { $each: 'a' } } });
    // @ts-expect-error the tags are strings
    people.patch('a', { $push: { tags: { $each: [5] } } });
    // @ts-expect-error $each is missing
    people.patch('a', { $push: { tags: { $slice: 5 } } });
    // @ts-expect-error no such modifier
    people.patch('a', { $push: { tags: { $each: ['a'], $slize: 5 } } });
    // @ts-expect-error no such field in the items
    people.patch('a', { $push: { lines: { $each: [], $sort: { skoo: 1 } } } });
    // @ts-expect-error strings have no fields
    people.patch('a', { $push: { tags: { $each: [], $sort: { sku: 1 } } } });
    // @ts-expect-error 1 or -1
    people.patch('a', { $push: { tags: { $each: [], $sort: 2 } } });
  });

  test('$addToSet', () => {
    people.patch('a', {
      $addToSet: { tags: 'a', roles: { $each: ['admin', 'guest'] }, lines: line },
    });
    // @ts-expect-error the tags are strings
    people.patch('a', { $addToSet: { tags: 5 } });
    // @ts-expect-error nothing is beside $each
    people.patch('a', { $addToSet: { tags: { $each: ['a'], $slice: 5 } } });
    // @ts-expect-error no array
    people.patch('a', { $addToSet: { home: 'a' } });
  });

  test('$pull', () => {
    people.patch('a', {
      $pull: { tags: 'a', roles: 'admin', lines: line, grid: [1], 'grid.0': 5 },
    });
    people.patch('a', {
      $pull: { tags: /^a/, nicknames: { $in: ['a', /b/] }, 'grid.0': { $gte: 5 } },
    });
    people.patch('a', {
      $pull: { lines: { sku: 'a', 'price.net': { $lt: 5 }, $or: [{ amount: 1 }] } },
    });
    people.patch('a', { $pull: { tags: null, extra: 5, 'extra.list': { $gt: 5 } } });
    // @ts-expect-error the tags are strings
    people.patch('a', { $pull: { tags: 5 } });
    // @ts-expect-error numbers match no pattern
    people.patch('a', { $pull: { 'grid.0': /5/ } });
    // @ts-expect-error no such field in the items
    people.patch('a', { $pull: { lines: { skoo: 'a' } } });
    // @ts-expect-error the amount is a number
    people.patch('a', { $pull: { lines: { sku: 'a', amount: '5' } } });
    // @ts-expect-error no such operator
    people.patch('a', { $pull: { tags: { $gtt: 'a' } } });
    // @ts-expect-error no array
    people.patch('a', { $pull: { name: 'a' } });
  });

  test('$pullAll and $pop', () => {
    people.patch('a', {
      $pullAll: { tags: ['a', null], roles: ['admin'] as const, lines: [line] },
    });
    people.patch('a', { $pop: { tags: 1, roles: -1, 'grid.0': 1, extra: -1 } });
    // @ts-expect-error a list
    people.patch('a', { $pullAll: { tags: 'a' } });
    // @ts-expect-error the tags are strings
    people.patch('a', { $pullAll: { tags: [5] } });
    // @ts-expect-error 1 or -1
    people.patch('a', { $pop: { tags: true } });
    // @ts-expect-error no array
    people.patch('a', { $pop: { name: 1 } });
  });
});

describe('documents', () => {
  test('without a type take every path, and still checked operands', () => {
    anything.patch('a', { a: 1, 'b.c': [], [String('d')]: null });
    anything.patch('a', { $set: { a: 1 }, $unset: { b: true }, $inc: { 'c.d': 1, e: 1n } });
    anything.patch('a', { $push: { f: 1, g: { $each: [1], $slice: 2 } }, $pop: { h: 1 } });
    anything.patch('a', {
      $pull: { i: { $gt: 5 } },
      $rename: { j: 'k' },
      $currentDate: { l: true },
    });
    anything.patch('a', {} as Stored);
    // @ts-expect-error a number
    anything.patch('a', { $inc: { a: '1' } });
    // @ts-expect-error 1 or -1
    anything.patch('a', { $pop: { a: 2 } });
    // @ts-expect-error managed fields do not change
    anything.patch('a', { $inc: { _updated_timestamp: 1 } });
    // @ts-expect-error an id is a string
    anything.patch('a', { _id: 5 });
  });

  test('with an index signature are checked where they declare a field', () => {
    const mixed = new db.Collection<{ name: string; age: number; [more: string]: unknown }>({
      name: 'mixed',
      type: 'DOCUMENT_BASED',
    });
    mixed.patch('a', { name: 'Ada', more: 5 });
    mixed.patch('a', { $inc: { age: 1, more: 5 }, $push: { list: 'a' }, $set: { name: 'Ada' } });
    // @ts-expect-error the name is a string
    mixed.patch('a', { name: 5 });
    // @ts-expect-error the name is a string
    mixed.patch('a', { $set: { name: 5 } });
    // @ts-expect-error the name is no number
    mixed.patch('a', { $inc: { name: 5 } });
    // @ts-expect-error the name is no array
    mixed.patch('a', { $push: { name: 'a' } });
  });

  test('of a union have the fields of all its members', () => {
    type Shape =
      | { kind: 'circle'; radius: number; size?: number }
      | { kind: 'box'; size: { width: number; labels: string[] } };
    const shapes = new db.Collection<Shape>({ name: 'shapes', type: 'DOCUMENT_BASED' });
    shapes.patch('a', { kind: 'box', 'size.width': 5 });
    shapes.patch('a', { kind: 'circle', radius: 5, size: 4 });
    shapes.patch('a', {
      $inc: { radius: 1, size: 2, 'size.width': 1 },
      $push: { 'size.labels': 'a' },
    });
    shapes.patch('a', {} as Stored<Shape>);
    // @ts-expect-error no such kind
    shapes.patch('a', { kind: 'line' });
    // @ts-expect-error no member has it
    shapes.patch('a', { length: 5 });
    // @ts-expect-error a string
    shapes.patch('a', { $inc: { kind: 1 } });
  });

  test('of a recursive type are checked for one round', () => {
    interface Tree {
      name: string;
      size: number;
      children: Tree[];
      parent?: Tree | null;
    }
    const trees = new db.Collection<Tree>({ name: 'trees', type: 'DOCUMENT_BASED' });
    const leaf: Tree = { name: 'a', size: 1, children: [] };
    trees.patch('a', {
      'children.0.name': 'b',
      'parent.size': 2,
      'parent.parent.parent.name': 'c',
    });
    trees.patch('a', { $inc: { 'children.0.size': 1 }, $push: { children: leaf } });
    trees.patch('a', { $pull: { children: { name: 'a', 'children.name': 'b' } } });
    // @ts-expect-error the name is a string
    trees.patch('a', { 'children.0.name': 5 });
    // @ts-expect-error the name is a string
    trees.patch('a', { $inc: { 'children.0.name': 5 } });
  });

  test('without a field of the kind take no operand', () => {
    const flags = new db.Collection<{ on: boolean; at: { hour: number } }>({
      name: 'flags',
      type: 'DOCUMENT_BASED',
    });
    flags.patch('a', { $push: {}, $inc: { 'at.hour': 1 }, $set: { _id: 'a', on: true } });
    // @ts-expect-error no array
    flags.patch('a', { $push: { on: true } });
    // @ts-expect-error an operator takes an object
    flags.patch('a', { $push: 5 });
    // @ts-expect-error only the hour is a number
    flags.patch('a', { $inc: { on: 1 } });
    // @ts-expect-error only the hour is a number
    flags.patch('a', { $inc: { at: 1 } });
  });

  test('that declare managed fields cannot change them', () => {
    const stamped = new db.Collection<{ _id: string; _updated_timestamp: number; n: number }>({
      name: 'stamped',
      type: 'DOCUMENT_BASED',
    });
    stamped.patch('a', { _id: 'a', n: 1 });
    stamped.patch('a', { $inc: { n: 1 } });
    // @ts-expect-error a managed field
    stamped.patch('a', { $inc: { _updated_timestamp: 1 } });
  });
});

test('changes can be built step by step', () => {
  const fields: PatchFields<Person> = {};
  fields.name = 'Ada';
  fields['home.city'] = 'Oslo';
  people.patch('a', fields);
  const update: Update<Person> = {};
  update.$inc = { age: 1 };
  update.$push = { tags: 'a' };
  people.patch('a', update);
  expectTypeOf<Update<Person>>().toExtend<Patch<Person>>();
  expectTypeOf<PatchFields<Person>>().toExtend<Patch<Person>>();
  // @ts-expect-error no such field
  fields.nmae = 'Ada';
  // @ts-expect-error the age is a number
  update.$inc = { age: '1' };
});
