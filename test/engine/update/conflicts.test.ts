import { expect, test } from 'vitest';
import { compile, refusalTable } from './cases.ts';

refusalTable('paths in one another', [
  [{ a: 1, 'a.b': 2 }, 'paths_conflict', 'a.b', '"a"'],
  [{ 'a.b': 2, a: 1 }, 'paths_conflict', 'a.b', '"a"'],
  [{ 'a.b.c': 1, a: 2 }, 'paths_conflict', 'a.b.c', '"a"'],
  [{ $set: { a: 1, 'a.b': 2 } }, 'paths_conflict', 'a.b', '"a"'],
  [{ $set: { 'a.b': 1 }, $inc: { 'a.b.c': 2 } }, 'paths_conflict', 'a.b.c', '"a.b"'],
  [{ $inc: { 'a.b.c': 2 }, $set: { 'a.b': 1 } }, 'paths_conflict', 'a.b.c', '"a.b"'],
  [{ $push: { a: 1 }, $pull: { 'a.0': 1 } }, 'paths_conflict', 'a.0', '"a"'],
  [{ $unset: { a: 1 }, $set: { 'a.b.c.d': 1 } }, 'paths_conflict', 'a.b.c.d', '"a"'],
]);

refusalTable('one path twice', [
  [{ $set: { a: 1 }, $inc: { a: 1 } }, 'paths_conflict', 'a'],
  [{ $set: { 'a.b': 1 }, $unset: { 'a.b': 1 } }, 'paths_conflict', 'a.b'],
  [{ $push: { a: 1 }, $addToSet: { a: 1 } }, 'paths_conflict', 'a'],
  [{ $min: { a: 1 }, $max: { a: 1 } }, 'paths_conflict', 'a'],
  [{ $pop: { a: 1 }, $pullAll: { a: [] } }, 'paths_conflict', 'a'],
  [{ $set: { 'a.0': 1 }, $inc: { 'a.0': 1 } }, 'paths_conflict', 'a.0'],
]);

refusalTable('paths of $rename', [
  [{ $rename: { a: 'a' } }, 'paths_conflict', 'a'],
  [{ $rename: { a: 'a.b' } }, 'paths_conflict', 'a.b'],
  [{ $rename: { 'a.b': 'a' } }, 'paths_conflict', 'a.b'],
  [{ $rename: { a: 'b', b: 'a' } }, 'paths_conflict', 'a'],
  [{ $rename: { a: 'b', b: 'c' } }, 'paths_conflict', 'b'],
  [{ $rename: { a: 'c', b: 'c' } }, 'paths_conflict', 'c'],
  [{ $rename: { a: 'c', b: 'c.d' } }, 'paths_conflict', 'c.d'],
  [{ $rename: { a: 'b' }, $set: { a: 1 } }, 'paths_conflict', 'a'],
  [{ $rename: { a: 'b' }, $set: { b: 1 } }, 'paths_conflict', 'b'],
  [{ $rename: { a: 'b' }, $set: { 'b.c': 1 } }, 'paths_conflict', 'b.c'],
  [{ $rename: { a: 'b.c' }, $unset: { b: 1 } }, 'paths_conflict', 'b.c'],
  [{ $rename: { 'a.x': 'b' }, $inc: { a: 1 } }, 'paths_conflict', 'a.x'],
]);

test.each([
  [{ 'a.b': 1, 'a.bc': 2 }],
  [{ a: 1, ab: 2, 'a-b': 3 }],
  [{ $set: { 'a.0': 1 }, $inc: { 'a.1': 1, 'a.10': 1 } }],
  [{ $rename: { 'a.b': 'a.c', 'x.y': 'a.d' }, $set: { 'a.e': 1 } }],
  [{ $set: { 'b.a': 1 }, $unset: { 'a.b': 1 }, $inc: { b2: 1 } }],
  // ignored, so in nobody's way
  [{ $set: { _id: 1, '_id.x': 1, a: 1 } }],
])('%j has no conflict', (changes) => {
  expect(() => compile(changes)).not.toThrow();
});
