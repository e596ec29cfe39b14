import { expectTypeOf, test } from 'vitest';
import type { Criteria } from '../../../src/query/criteria/criteria-types.ts';

interface Person {
  name: string;
  age: number;
  born?: Date;
  tags: string[];
  address: { city: string; zip: string };
  pets: { kind: string; age: number; names: readonly string[] }[];
  job?: { title: string; since: Date; boss?: { name: string } | null };
  grid: number[][];
  scores: Record<string, { points: number }>;
  files: Map<string, number>;
  photo: Blob;
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

test('dotted paths are checked with the type they lead to', () => {
  take({ 'address.city': /^O/, 'address.zip': { $in: ['0150', /^1/] } });
  take({ 'job.title': 'cook', 'job.since': { $lt: new Date(0) }, 'job.boss.name': null });
  take({ 'pets.kind': 'cat', 'pets.0.kind': { $ne: 'dog' }, 'pets.12.age': { $mod: [2, 0] } });
  take({ 'pets.0': { $exists: true }, 'tags.0': 'climber', 'pets.names': { $size: 2 } });
  take({ 'pets.names': 'Tom', 'pets.names.0': 'Tom', 'pets.0.names.0': /^T/ });
  take({ 'grid.0': [1, 2], 'grid.0.1': { $gt: 3 } });
  take({ pets: { $elemMatch: { 'names.0': 'Tom' } } });
  // @ts-expect-error no such field
  take({ 'address.town': 'Oslo' });
  // @ts-expect-error no such field behind an optional one
  take({ 'job.boss.age': 5 });
  // @ts-expect-error no such field in the items
  take({ 'pets.colour': 'black' });
  // @ts-expect-error no such field in the item
  take({ 'pets.0.colour': 'black' });
  // @ts-expect-error no position
  take({ 'pets.first.kind': 'cat' });
  // @ts-expect-error nothing is inside a string
  take({ 'name.length': 3 });
  // @ts-expect-error paths lead into no Date
  take({ 'born.getTime': 3 });
  // @ts-expect-error paths lead into no Map
  take({ 'files.size': 3 });
  // @ts-expect-error paths lead into no Blob
  take({ 'photo.size': 3 });
  // @ts-expect-error a string is expected
  take({ 'address.city': 5 });
  // @ts-expect-error a string is expected
  take({ 'address.city': { $gt: 5 } });
  // @ts-expect-error a Date is expected
  take({ 'job.since': { $lt: '2020' } });
  // @ts-expect-error a number is expected
  take({ 'pets.0.age': 'three' });
  // @ts-expect-error no such field inside $or
  take({ $or: [{ 'address.town': 'Oslo' }] });
});

test('a field of type any takes any path', () => {
  take({ 'anything.at.all': 5, 'scores.ada.points': { $gt: 1 }, 'scores.ada': 5 });
  const untyped: Criteria<{ given: any }> = { 'given.a.b': { $gt: 1 } };
  const open: Criteria<{ named: string; [rest: string]: unknown }> = {
    other: 1,
    'a.b': 2,
    named: 'a',
  };
  // @ts-expect-error a named field is checked
  const wrong: Criteria<{ named: string; [rest: string]: unknown }> = { named: 5 };
  const all: Criteria<any>[] = [untyped, open, wrong];
  expectTypeOf(all).toExtend<Criteria<any>[]>();
});

type Shape = { kind: 'circle'; radius: number } | { kind: 'box'; size: { width: number } };

test('unions accept the fields of each member', () => {
  const shape: Criteria<Shape> = { kind: 'box', radius: 1, 'size.width': { $gt: 1 } };
  const held: Criteria<{ shape: Shape | null }> = {
    'shape.kind': { $in: ['box'] },
    'shape.radius': 1,
  };
  // @ts-expect-error no such kind
  const wrong: Criteria<Shape> = { kind: 'line' };
  // @ts-expect-error no member has it
  const unknown: Criteria<{ shape: Shape | null }> = { 'shape.length': 1 };
  expectTypeOf([shape, wrong]).toExtend<Criteria<Shape>[]>();
  expectTypeOf([held, unknown]).toExtend<Criteria<{ shape: Shape | null }>[]>();
});

interface Tree {
  value: number;
  parent?: Tree;
  children: Tree[];
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

interface Endless<T> {
  value: T;
  next: Endless<T[]>;
}

test('recursive types are checked down to a fixed depth', () => {
  const tree: Criteria<Tree> = {
    value: 1,
    'children.value': { $gt: 1 },
    'parent.children.0.value': 1,
    'children.children.children.children.children.value': 'anything',
  };
  // @ts-expect-error no such field
  const misspelt: Criteria<Tree> = { 'children.valeu': 1 };
  // @ts-expect-error a number is expected
  const wrong: Criteria<Tree> = { 'parent.value': 'one' };
  expectTypeOf([tree, misspelt, wrong]).toExtend<Criteria<Tree>[]>();
  const json: Criteria<{ json: Json }> = { 'json.a.0.b': 1, json: { a: [1] } };
  expectTypeOf(json).toExtend<Criteria<{ json: Json }>>();
  const endless: Criteria<Endless<string>> = { 'next.next.value': [['a']] };
  expectTypeOf(endless).toExtend<Criteria<Endless<string>>>();
});

test('untyped documents accept any field', () => {
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
  // @ts-expect-error a number is expected
  take({ age: 'thirty' });
  // @ts-expect-error a number is expected
  take({ age: { $gt: 'thirty' } });
  // @ts-expect-error a list is expected
  take({ age: { $in: 3 } });
  // @ts-expect-error items of the list are strings
  take({ tags: { $in: [3] } });
  // @ts-expect-error a pattern cannot match numbers
  take({ age: /3/ });
  // @ts-expect-error a pattern cannot match numbers
  take({ age: { $regex: '3' } });
  // @ts-expect-error a pattern cannot match numbers
  take({ 'pets.age': { $regex: '3' } });
  // @ts-expect-error flags without a pattern
  take({ age: { $options: 'i' } });
  // @ts-expect-error a string has no items
  take({ name: { $size: 2 } });
  // @ts-expect-error a string has no items
  take({ 'address.city': { $elemMatch: { $eq: 'a' } } });
  // @ts-expect-error a string has no remainder
  take({ name: { $mod: [2, 0] } });
  // @ts-expect-error no such type
  take({ age: { $type: 'integer' } });
  // @ts-expect-error a length is a number
  take({ tags: { $size: '2' } });
  // @ts-expect-error divisor and remainder are expected
  take({ age: { $mod: [2] } });
  // @ts-expect-error a list is expected
  take({ $or: { age: 1 } });
  // @ts-expect-error no such field in the items
  take({ pets: { $elemMatch: { colour: 'black' } } });
});
