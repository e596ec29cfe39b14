import { expectTypeOf, test } from 'vitest';
import type { Criteria } from '../../src/query/criteria-types.ts';

interface Person {
  name: string;
  age: number;
  born?: Date;
  tags: string[];
  address: { city: string; zip: string };
  pets: { kind: string; age: number }[];
  anything: unknown;
}

const take = (_criteria: Criteria<Person>): void => {};

test('values, patterns and operators of the field types are accepted', () => {
  take({});
  take({ name: 'Ada', age: 36 });
  take({ name: /^A/, tags: /climb/ });
  take({ age: { $gte: 20, $lt: 40 } });
  take({ born: { $lt: new Date(0) } });
  take({ born: null });
  take({ tags: 'climber' });
  take({ tags: ['climber', 'cook'] });
  take({ tags: { $all: ['climber', /cook/], $size: 2 } });
  take({ name: { $in: ['Ada', /^B/], $not: /x$/ } });
  take({ name: { $regex: '^a', $options: 'i' } });
  take({ address: { city: 'Oslo', zip: '0150' } });
  take({ pets: { $elemMatch: { kind: 'cat', age: { $gt: 3 } } } });
  take({ pets: { $all: [{ $elemMatch: { kind: 'cat' } }] } });
  take({ age: { $type: ['int', 1], $exists: true, $mod: [2, 0] } });
  take({ anything: { $gt: 1 } });
});

test('dotted paths and logic are accepted', () => {
  take({ 'address.city': 'Oslo' });
  take({ 'pets.0.age': { $gt: 3 } });
  take({ $or: [{ age: 1 }, { $and: [{ name: 'Ada' }] }], $nor: [{ 'address.city': 'Oslo' }] });
});

test('documents without a type take any field', () => {
  const criteria = { name: 'Ada', age: { $gt: 1 } };
  expectTypeOf(criteria).toExtend<Criteria>();
});

test('unknown fields and operators are rejected', () => {
  // @ts-expect-error no such field
  take({ nme: 'Ada' });
  // @ts-expect-error no such operator
  take({ age: { $gtt: 1 } });
  // @ts-expect-error no such operator beside a known one
  take({ age: { $gt: 1, $lessThan: 2 } });
  // @ts-expect-error no such operator at the top
  take({ $xor: [{ age: 1 }] });
  // @ts-expect-error no such field inside $or
  take({ $or: [{ nme: 'Ada' }] });
});

test('operands of the wrong type are rejected', () => {
  // @ts-expect-error a number is asked for
  take({ age: 'thirty' });
  // @ts-expect-error a number is asked for
  take({ age: { $gt: 'thirty' } });
  // @ts-expect-error a list is asked for
  take({ age: { $in: 3 } });
  // @ts-expect-error items of the list are strings
  take({ tags: { $in: [3] } });
  // @ts-expect-error a pattern cannot match numbers
  take({ age: /3/ });
  // @ts-expect-error a pattern cannot match numbers
  take({ age: { $regex: '3' } });
  // @ts-expect-error no such type
  take({ age: { $type: 'integer' } });
  // @ts-expect-error a length is a number
  take({ tags: { $size: '2' } });
  // @ts-expect-error divisor and remainder are asked for
  take({ age: { $mod: [2] } });
  // @ts-expect-error a list is asked for
  take({ $or: { age: 1 } });
  // @ts-expect-error no such field in the items
  take({ pets: { $elemMatch: { colour: 'black' } } });
});
