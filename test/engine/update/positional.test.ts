import { update } from 'mingo/updater';
import { describe, expect, test } from 'vitest';
import { CairnError } from '../../../src/errors/errors.ts';
import { fc, runs } from '../../setup/properties.ts';
import { compile, NOW, shown } from './cases.ts';

interface Scope {
  readonly array_filters?: readonly object[];
  readonly criteria?: object;
}

type Row = readonly [title: string, before: object, changes: object, scope: Scope, after: object];

const rows: readonly Row[] = [
  ['every item', { a: [1, 2] }, { $inc: { 'a.$[]': 1 } }, {}, { a: [2, 3] }],
  ['no item', { a: [] }, { $inc: { 'a.$[]': 1 } }, {}, { a: [] }],
  [
    'a field of every item',
    { a: [{ n: 1 }, {}] },
    { $set: { 'a.$[].n': 5 } },
    {},
    { a: [{ n: 5 }, { n: 5 }] },
  ],
  [
    'what the criteria match, whatever `$expr` says of the document',
    { a: [1, 5], n: 2, m: 2 },
    { $set: { 'a.$': 0 } },
    { criteria: { a: 5, $expr: { $eq: ['$n', '$m'] } } },
    { a: [1, 0], n: 2, m: 2 },
  ],
  [
    'the same within logic',
    { a: [1, 5] },
    { $set: { 'a.$': 0 } },
    { criteria: { $and: [{ $expr: { $gt: [{ $size: '$a' }, 1] } }, { $or: [{ a: 5 }] }] } },
    { a: [1, 0] },
  ],
  ['fields without an operator', { a: [{ n: 1 }] }, { 'a.$[].n': 5 }, {}, { a: [{ n: 5 }] }],
  [
    'nested arrays',
    { a: [{ b: [1, 2] }, { b: [3] }] },
    { $mul: { 'a.$[].b.$[]': 2 } },
    {},
    { a: [{ b: [2, 4] }, { b: [6] }] },
  ],
  [
    'arrays of arrays',
    { a: [[1, 2], [3]] },
    { $inc: { 'a.$[].$[]': 1 } },
    {},
    { a: [[2, 3], [4]] },
  ],
  [
    'a position inside of every item',
    { a: [{ b: [1, 2] }] },
    { $set: { 'a.$[].b.1': 9 } },
    {},
    { a: [{ b: [1, 9] }] },
  ],
  [
    'items that a filter matches',
    { a: [1, 5, 9] },
    { $set: { 'a.$[big]': 0 } },
    { array_filters: [{ big: { $gt: 4 } }] },
    { a: [1, 0, 0] },
  ],
  [
    'items by their fields',
    {
      a: [
        { sku: 'x', n: 1 },
        { sku: 'y', n: 1 },
      ],
    },
    { $inc: { 'a.$[line].n': 2 } },
    { array_filters: [{ 'line.sku': 'y' }] },
    {
      a: [
        { sku: 'x', n: 1 },
        { sku: 'y', n: 3 },
      ],
    },
  ],
  [
    'no match',
    { a: [{ n: 1 }] },
    { $inc: { 'a.$[x].n': 1 } },
    { array_filters: [{ 'x.n': 7 }] },
    { a: [{ n: 1 }] },
  ],
  [
    'two names, nested',
    {
      a: [
        { k: 1, b: [1, 2] },
        { k: 2, b: [1, 2] },
      ],
    },
    { $set: { 'a.$[o].b.$[i]': 0 } },
    { array_filters: [{ 'o.k': 2 }, { i: { $gte: 2 } }] },
    {
      a: [
        { k: 1, b: [1, 2] },
        { k: 2, b: [1, 0] },
      ],
    },
  ],
  [
    'a filter with $or',
    { a: [1, 2, 3] },
    { $inc: { 'a.$[x]': 10 } },
    { array_filters: [{ $or: [{ x: 1 }, { x: 3 }] }] },
    { a: [11, 2, 13] },
  ],
  [
    'push to a list of every item',
    { a: [{ b: [1] }, {}] },
    { $push: { 'a.$[].b': 2 } },
    {},
    { a: [{ b: [1, 2] }, { b: [2] }] },
  ],
  [
    'pull from a list of every item',
    { a: [{ b: [1, 2] }] },
    { $pull: { 'a.$[].b': { $gt: 1 } } },
    {},
    { a: [{ b: [1] }] },
  ],
  [
    '$unset of items leaves null',
    { a: [1, 2] },
    { $unset: { 'a.$[]': true } },
    {},
    { a: [null, null] },
  ],
  [
    '$unset of fields',
    { a: [{ n: 1, m: 2 }] },
    { $unset: { 'a.$[].n': true } },
    {},
    { a: [{ m: 2 }] },
  ],
  [
    'two names that meet different items',
    { a: [1, 5] },
    { $inc: { 'a.$[x]': 1 }, $mul: { 'a.$[y]': 2 } },
    { array_filters: [{ x: 1 }, { y: 5 }] },
    { a: [2, 10] },
  ],
  ['beside other paths', { n: 1, a: [1] }, { $inc: { n: 1, 'a.$[]': 1 } }, {}, { n: 2, a: [2] }],
  [
    'the matched item',
    { a: [1, 5, 9] },
    { $set: { 'a.$': 0 } },
    { criteria: { a: 5 } },
    { a: [1, 0, 9] },
  ],
  [
    'the first that matches',
    { a: [1, 5, 9] },
    { $set: { 'a.$': 0 } },
    { criteria: { a: { $gte: 5 } } },
    { a: [1, 0, 9] },
  ],
  [
    'by a field of it',
    { a: [{ s: 'x' }, { s: 'y' }] },
    { $set: { 'a.$.n': 1 } },
    { criteria: { 'a.s': 'y' } },
    { a: [{ s: 'x' }, { s: 'y', n: 1 }] },
  ],
  [
    'by $elemMatch',
    {
      a: [
        { s: 'x', n: 1 },
        { s: 'x', n: 5 },
      ],
    },
    { $inc: { 'a.$.n': 1 } },
    { criteria: { a: { $elemMatch: { s: 'x', n: { $gt: 2 } } } } },
    {
      a: [
        { s: 'x', n: 1 },
        { s: 'x', n: 6 },
      ],
    },
  ],
  [
    'by several criteria, whose one item is preferred',
    {
      a: [
        { s: 'x', n: 1 },
        { s: 'y', n: 5 },
        { s: 'x', n: 5 },
      ],
    },
    { $set: { 'a.$.hit': true } },
    { criteria: { _id: '1', 'a.s': 'x', 'a.n': 5 } },
    {
      a: [
        { s: 'x', n: 1 },
        { s: 'y', n: 5 },
        { s: 'x', n: 5, hit: true },
      ],
    },
  ],
  [
    'by several criteria that no item meets alone',
    {
      a: [
        { s: 'y', n: 5 },
        { s: 'x', n: 1 },
      ],
    },
    { $set: { 'a.$.hit': true } },
    { criteria: { 'a.s': 'x', 'a.n': 5 } },
    {
      a: [
        { s: 'y', n: 5 },
        { s: 'x', n: 1, hit: true },
      ],
    },
  ],
  [
    'beside criteria of the whole array',
    { a: [1, 2] },
    { $set: { 'a.$': 0 } },
    { criteria: { $and: [{ a: { $size: 2 } }, { a: 2 }] } },
    { a: [1, 0] },
  ],
  [
    'the first of several values that are all there',
    { a: [1, 3, 2] },
    { $set: { 'a.$': 0 } },
    { criteria: { a: { $all: [2, 3] } } },
    { a: [1, 3, 0] },
  ],
  [
    'the first of several conditions',
    { a: [{ n: 1 }, { n: 5 }] },
    { $set: { 'a.$.n': 0 } },
    { criteria: { a: { $all: [{ $elemMatch: { n: 5 } }, { $elemMatch: { n: 1 } }] } } },
    { a: [{ n: 1 }, { n: 0 }] },
  ],
  [
    'beside negations',
    { a: [1, 5, 7] },
    { $set: { 'a.$': 0 } },
    { criteria: { a: { $ne: 2, $gt: 4 }, $nor: [{ a: 3 }] } },
    { a: [1, 0, 7] },
  ],
  [
    'a negation of a field, within $elemMatch',
    { a: [{ n: 1 }, { n: 2 }] },
    { $set: { 'a.$.n': 0 } },
    { criteria: { a: { $elemMatch: { n: { $ne: 1 } } } } },
    { a: [{ n: 1 }, { n: 0 }] },
  ],
  [
    'an array below a field',
    { o: { a: [1, 2] } },
    { $inc: { 'o.a.$': 1 } },
    { criteria: { 'o.a': 2 } },
    { o: { a: [1, 3] } },
  ],
];

describe('positional operators', () => {
  test.each(rows)('%s', (_, before, changes, scope, after) => {
    expect(compile(changes, scope).apply(structuredClone(before), NOW)).toEqual(after);
  });
});

type Refused = readonly [changes: object, scope: Scope, code: string, place: string, named: string];

const refused: readonly Refused[] = [
  [{ $set: { 'a.$': 1 } }, {}, 'update_invalid', 'changes.$set.a.$', '$[name]'],
  [{ 'a.$.n': 1 }, {}, 'update_invalid', 'changes.$set.a.$.n', '$[name]'],
  [
    { $set: { 'a.$.b.$': 1 } },
    { criteria: { a: 1 } },
    'update_invalid',
    'changes.$set.a.$.b.$',
    'twice',
  ],
  [{ $set: { '$[]': 1 } }, {}, 'update_invalid', 'changes.$set.$[]', 'follows an array'],
  [
    { $set: { '$.n': 1 } },
    { criteria: { a: 1 } },
    'update_invalid',
    'changes.$set.$.n',
    'follows an array',
  ],
  [{ $set: { 'a.$[x]': 1 } }, {}, 'update_invalid', 'a.$[x]', "{ 'x.field'"],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [{ y: 1 }] },
    'update_invalid',
    'array_filters[0]',
    '$[y]',
  ],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [{ x: 1 }, { y: 1 }] },
    'update_invalid',
    'array_filters[1]',
    '$[y]',
  ],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [{ x: 1 }, { 'x.n': 1 }] },
    'update_invalid',
    'array_filters[1]',
    '"x"',
  ],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [{ 'x.n': 1, 'y.n': 1 }] },
    'update_invalid',
    'array_filters[0]',
    'one name',
  ],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [{}] },
    'update_invalid',
    'array_filters[0]',
    'one name',
  ],
  [
    { $set: { 'a.$[X]': 1 } },
    { array_filters: [{ X: 1 }] },
    'update_invalid',
    'array_filters[0]',
    'small letter',
  ],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [5 as never] },
    'update_invalid',
    'array_filters[0]',
    'criteria',
  ],
  [
    { $set: { 'a.$[x]': 1 } },
    { array_filters: [{ 'x.n': { $foo: 1 } }] },
    'operator_unknown',
    'array_filters[0].x.n.$foo',
    'array_filters[0].x.n.$foo',
  ],
  [{ $rename: { 'a.$[].n': 'b' } }, {}, 'update_invalid', 'changes.$rename.a.$[].n', 'modify'],
  [{ $rename: { n: 'a.$[].b' } }, {}, 'update_invalid', 'changes.$rename.n', 'modify'],
  [{ $set: { a: 1, 'a.$[].n': 1 } }, {}, 'paths_conflict', 'a.$[].n', 'inside'],
];

/** A document that the changes do not fit. */
const unfit: readonly (readonly [before: object, ...Refused])[] = [
  [{ a: 1 }, { $set: { 'a.$[]': 1 } }, {}, 'kind_mismatch', 'a', 'an array'],
  [{}, { $set: { 'a.$[]': 1 } }, {}, 'kind_mismatch', 'a', 'an array'],
  [{ a: [{ b: 1 }] }, { $set: { 'a.$[].b.$[]': 1 } }, {}, 'kind_mismatch', 'a.0.b', 'an array'],
  [{ a: [1, 'x'] }, { $inc: { 'a.$[]': 1 } }, {}, 'kind_mismatch', 'a.1', 'a number'],
  [{ a: [1] }, { $set: { 'a.$[]': 1, 'a.0': 2 } }, {}, 'paths_conflict', 'a.0', 'twice'],
  [
    { a: [5] },
    { $inc: { 'a.$[x]': 1 }, $mul: { 'a.$[y]': 2 } },
    { array_filters: [{ x: 5 }, { y: { $gt: 1 } }] },
    'paths_conflict',
    'a.0',
    'twice',
  ],
  [
    { a: [1], b: 2 },
    { $set: { 'a.$': 1 } },
    { criteria: { b: 2 } },
    'update_invalid',
    'a.$',
    'add some for items of "a"',
  ],
  [
    { a: [1, 2] },
    { $set: { 'a.$': 1 } },
    {
      criteria: { a: { $ne: 7, $nin: [8] }, $nor: [{ a: 9 }], $or: [{ a: { $not: { $gt: 9 } } }] },
    },
    'update_invalid',
    'a.$',
    'no negations',
  ],
];

describe('positional operators are refused', () => {
  test.each(refused)('%j with %j', (changes, scope, code, place, named) => {
    expect(failure(() => compile(changes, scope))).toMatchObject({ code, place });
    expect(failure(() => compile(changes, scope)).message).toContain(named);
  });

  test.each(unfit)('in %j by %j', (before, changes, scope, code, place, named) => {
    const error = failure(() => compile(changes, scope).apply(structuredClone(before), NOW));
    expect(error).toMatchObject({ code, place });
    expect(error.message).toContain(named);
  });
});

function failure(run: () => unknown): CairnError {
  try {
    run();
  } catch (error) {
    if (error instanceof CairnError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

const n = fc.integer({ min: 0, max: 3 });
const row = fc.record({ n, k: n, list: fc.array(n, { maxLength: 3 }) });
const document = fc.record({
  list: fc.array(n, { maxLength: 4 }),
  rows: fc.array(row, { maxLength: 3 }),
});
const paths = [
  'list.$[]',
  'list.$[x]',
  'rows.$[].n',
  'rows.$[o].n',
  'rows.$[o].list.$[]',
  'rows.$[].list.$[x]',
  'rows.0.n',
];
const onItem = fc.oneof(
  fc.record({ $gte: n }),
  fc.record({ $in: fc.array(n, { maxLength: 2 }) }),
  fc.record({ $ne: n }),
);
const filters = fc.record({
  x: onItem.map((x) => ({ x })),
  // mingo takes no logic in a filter.
  o: onItem.map((k) => ({ 'o.k': k })),
});
const lists = ['rows.$[].list', 'rows.$[o].list', 'rows.0.list'];
const rowsOf = ['rows.$[].n', 'rows.$[o].n'];
const change = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(
      fc.constantFrom('$inc', '$set', '$max', '$min', '$mul'),
      fc.constantFrom(...paths),
      n,
    ),
  },
  fc.tuple(fc.constantFrom('$push', '$pull'), fc.constantFrom(...lists), n),
  fc.tuple(
    fc.constant('$push'),
    fc.constantFrom(...lists),
    fc.array(n, { maxLength: 2 }).map(($each) => ({ $each })),
  ),
  fc.tuple(fc.constant('$pullAll'), fc.constantFrom(...lists), fc.array(n, { maxLength: 2 })),
  fc.tuple(fc.constant('$pop'), fc.constantFrom(...lists), fc.constantFrom(1, -1)),
  fc.tuple(fc.constant('$unset'), fc.constantFrom(...rowsOf, ...lists), fc.constant('')),
);

test('updates agree with mingo', () => {
  fc.assert(
    fc.property(document, filters, change, (before, by, [name, path, operand]) => {
      const changes = { [name]: { [path]: operand } };
      const array_filters = Object.entries(by).flatMap(([key, filter]) =>
        path.includes(`$[${key}]`) ? [filter] : [],
      );
      if (path.startsWith('rows.0') && before.rows.length === 0) return;
      const theirs = structuredClone(before);
      update(theirs, changes, array_filters, {}, { cloneMode: 'deep' });
      const ours = compile(changes, { array_filters }).apply(structuredClone(before), NOW);
      expect(ours, shown([before, changes, array_filters])).toEqual(theirs);
    }),
    runs(3000),
  );
});

const matching = fc.oneof(
  n.map((value) => ({ list: value })),
  n.map((value) => ({ list: { $gt: value } })),
  n.map((value) => ({ list: { $elemMatch: { $gte: value, $lt: value + 2 } } })),
  n.map((value) => ({ $or: [{ list: value }, { list: value + 1 }] })),
);

test('$ is the first item that matches by itself', () => {
  fc.assert(
    fc.property(fc.array(n, { maxLength: 5 }), matching, (list, criteria) => {
      const alone = (value: number) => passes(value, criteria);
      const index = list.findIndex(alone);
      if (index < 0) return;
      const after = compile({ $set: { 'list.$': 99 } }, { criteria }).apply(
        { list: [...list] },
        NOW,
      );
      expect(after).toEqual({ list: list.with(index, 99) });
    }),
    runs(1000),
  );
});

/** The criteria above, by hand. */
function passes(value: number, criteria: any): boolean {
  if (criteria.$or) return criteria.$or.some((one: object) => passes(value, one));
  const { list } = criteria;
  if (typeof list === 'number') return value === list;
  const { $gt = -1, $elemMatch: { $gte = 0, $lt = 99 } = {} } = list;
  return value > $gt && value >= $gte && value < $lt;
}
