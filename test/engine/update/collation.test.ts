import { describe, expect, test } from 'vitest';
import { compile, NOW } from './cases.ts';

type Row = readonly [
  changes: object,
  before: unknown,
  collation: string | undefined,
  after: unknown,
];

const cased = 'en 3';
const any = 'en 2';
const numeric = 'en 3 numeric';

/** The cases of MongoDB's `collation_update.js`, and further ones. */
const rows: readonly Row[] = [
  [{ $min: { a: '1234' } }, '124', numeric, '124'],
  [{ $min: { a: '1234' } }, '124', cased, '1234'],
  [{ $max: { a: '1234' } }, '124', cased, '124'],
  [{ $max: { a: '1234' } }, '124', numeric, '1234'],
  [{ $max: { a: 'ADA' } }, 'ada', any, 'ada'],
  [{ $addToSet: { a: 'FOO' } }, ['foo'], any, ['foo']],
  [{ $addToSet: { a: 'FOO' } }, ['foo'], cased, ['foo', 'FOO']],
  [{ $addToSet: { a: 'FOO' } }, ['foo'], undefined, ['foo', 'FOO']],
  [
    { $addToSet: { a: { $each: ['FOO', 'BAR', 'str', 'STR', 1, 1n] } } },
    ['foo', 'bar', 'FOO'],
    any,
    ['foo', 'bar', 'FOO', 'str', 1],
  ],
  [
    { $addToSet: { a: { $each: [{ x: 'A' }, ['B']] } } },
    [{ x: 'a' }, ['b']],
    any,
    [{ x: 'a' }, ['b']],
  ],
  [{ $pull: { a: 'foo' } }, ['foo', 'FOO'], cased, ['FOO']],
  [{ $pull: { a: 'foo' } }, ['foo', 'FOO'], any, []],
  [{ $pull: { a: { $lt: '1234' } } }, ['124', '1234'], cased, ['124', '1234']],
  [{ $pull: { a: { $lt: '1234' } } }, ['124', '1234'], numeric, ['1234']],
  [{ $pull: { a: { sku: 'X' } } }, [{ sku: 'x', n: 1 }, { sku: 'y' }], any, [{ sku: 'y' }]],
  [{ $pull: { a: { $in: ['X', 5] } } }, ['x', 5, 'y'], any, ['y']],
  [{ $pullAll: { a: ['FOO', 'BAR'] } }, ['foo', 'bar'], cased, ['foo', 'bar']],
  [{ $pullAll: { a: ['FOO', 'BAR'] } }, ['foo', 'bar', 'baz', 1], any, ['baz', 1]],
  [
    { $push: { a: { $each: ['1230'], $sort: 1 } } },
    ['1234', '124'],
    cased,
    ['1230', '1234', '124'],
  ],
  [
    { $push: { a: { $each: ['1230'], $sort: 1 } } },
    ['1234', '124'],
    numeric,
    ['124', '1230', '1234'],
  ],
  [
    { $push: { a: { $each: [{ n: 'B' }], $sort: { n: -1 } } } },
    [{ n: 'a' }, { n: 'c' }],
    any,
    [{ n: 'c' }, { n: 'B' }, { n: 'a' }],
  ],
];

describe('update operators compare strings in the collation of the call', () => {
  test.each(rows)('%o on %o in %s', (changes, before, collation, after) => {
    const { apply } = compile(changes, { collation });
    expect(apply({ a: structuredClone(before) }, NOW)).toEqual({ a: after });
  });
});
