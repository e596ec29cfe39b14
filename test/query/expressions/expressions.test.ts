import { find } from 'mingo';
import { describe, expect, test } from 'vitest';
import { compileExpression } from '../../../src/query/expressions/compile-expression.ts';
import { fc, runs } from '../../setup/properties.ts';
import { documentedBasics } from './documented-basics.ts';
import { documentedDates } from './documented-dates.ts';
import { documentedValues } from './documented-values.ts';
import { failureOf } from './failure-of.ts';

const NOW = Date.UTC(2024, 1, 29, 12);
const at = new Date(Date.UTC(2020, 5, 1));
const document = {
  _id: 'x',
  n: 5,
  big: 2n ** 60n,
  zero: 0,
  text: 'Ada Lovelace',
  none: null,
  yes: true,
  at,
  tags: ['a', 'b', 'c'],
  numbers: [3, 1, 2, null, 'x'],
  lines: [{ sku: 'a', n: 2 }, { sku: 'b', n: 3, note: 'x' }, 7],
  deep: { a: { b: 1 }, list: [[1], [2, 3]] },
};

/** Not written out: an object with `then` looks like a promise to the linter. */
const branch = (test: unknown, value: unknown, name = 'case') =>
  Object.fromEntries([
    [name, test],
    ['then', value],
  ]);

const text = (value: unknown) =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one));

const of = (expression: unknown, given: unknown = document) =>
  compileExpression(expression, '$expr', { now: NOW }).evaluate(given);

const rows: [unknown, unknown][] = [
  // Values and paths.
  [1, 1],
  ['text', 'text'],
  ['$n', 5],
  ['$deep.a.b', 1],
  ['$deep.a.none', undefined],
  ['$lines.sku', ['a', 'b']],
  ['$lines.note', ['x']],
  ['$tags.length', []],
  ['$deep.list', [[1], [2, 3]]],
  ['$n.x', undefined],
  ['$$ROOT.n', 5],
  ['$$CURRENT.text', 'Ada Lovelace'],
  ['$$NOW', new Date(NOW)],
  ['$$REMOVE', undefined],
  [
    { a: '$n', b: { c: '$nothing', d: [1, '$nothing'] } },
    { a: 5, b: { d: [1, null] } },
  ],
  [{ $literal: '$n' }, '$n'],
  [{ $let: { vars: { a: '$n', b: 2 }, in: { $add: ['$$a', '$$b'] } } }, 7],
  [
    { $let: { vars: { a: 1 }, in: { $let: { vars: { a: 2, b: '$$a' }, in: ['$$a', '$$b'] } } } },
    [2, 1],
  ],
  // Arithmetic.
  [{ $add: ['$n', 1, 2.5] }, 8.5],
  [{ $add: [] }, 0],
  [{ $add: ['$at', 1000] }, new Date(at.getTime() + 1000)],
  [{ $add: ['$n', null] }, null],
  [{ $add: ['$n', '$nothing'] }, null],
  [{ $add: ['$big', 1] }, 2n ** 60n + 1n],
  [{ $subtract: ['$n', 7] }, -2],
  [{ $subtract: ['$at', new Date(at.getTime() - 5)] }, 5],
  [{ $subtract: ['$at', 5] }, new Date(at.getTime() - 5)],
  [{ $multiply: ['$n', 2, 3] }, 30],
  [{ $multiply: ['$big', 2n] }, 2n ** 61n],
  [{ $divide: ['$n', 2] }, 2.5],
  [{ $mod: [-7, 3] }, -1],
  [{ $abs: -3 }, 3],
  [{ $abs: '$none' }, null],
  [{ $ceil: [2.1] }, 3],
  [{ $floor: -2.1 }, -3],
  [{ $round: 2.5 }, 2],
  [{ $round: 3.5 }, 4],
  [{ $round: -2.5 }, -2],
  [{ $round: [1.005, 2] }, 1],
  [{ $round: [1234, -2] }, 1200],
  [{ $trunc: [1.29, 1] }, 1.2],
  [{ $trunc: -1.5 }, -1],
  [{ $pow: [2, 10] }, 1024],
  [{ $sqrt: 16 }, 4],
  [{ $log: [8, 2] }, 3],
  // Comparisons and conditions.
  [{ $gt: ['$n', 4] }, true],
  [{ $gt: ['$text', '$n'] }, true],
  [{ $eq: ['$none', null] }, true],
  [{ $eq: ['$nothing', null] }, false],
  [{ $lt: ['$nothing', null] }, true],
  [{ $lte: ['$n', 5n] }, true],
  [{ $eq: ['$deep.a', { b: 1 }] }, true],
  [{ $cmp: [1, 2] }, -1],
  [{ $ne: [1, 1n] }, false],
  [{ $and: ['$yes', '$n'] }, true],
  [{ $and: ['$zero', '$n'] }, false],
  [{ $and: [] }, true],
  [{ $or: ['$zero', '$none', '$nothing'] }, false],
  [{ $or: [''] }, true],
  [{ $not: ['$zero'] }, true],
  [{ $not: '$yes' }, false],
  [{ $cond: [{ $gte: ['$n', 5] }, 'yes', 'no'] }, 'yes'],
  [{ $cond: { ...branch(0, 1, 'if'), if: '$none', else: '$n' } }, 5],
  [{ $ifNull: ['$none', '$nothing', 7] }, 7],
  [{ $ifNull: ['$zero', 7] }, 0],
  [
    {
      $switch: {
        branches: [branch({ $lt: ['$n', 3] }, 'low'), branch({ $lt: ['$n', 9] }, 'mid')],
        default: 'high',
      },
    },
    'mid',
  ],
  [{ $switch: { branches: [branch(false, 1)], default: null } }, null],
  // Strings.
  [{ $concat: ['$text', '!'] }, 'Ada Lovelace!'],
  [{ $concat: ['$text', '$none'] }, null],
  [{ $toUpper: '$text' }, 'ADA LOVELACE'],
  [{ $toLower: '$nothing' }, ''],
  [{ $strLenCP: 'a💛b' }, 3],
  [{ $substrCP: ['a💛bc', 1, 2] }, '💛b'],
  [{ $trim: { input: '  x ' } }, 'x'],
  [{ $ltrim: { input: 'xxyx', chars: 'x' } }, 'yx'],
  [{ $rtrim: { input: 'xxyx', chars: 'x' } }, 'xxy'],
  [{ $split: ['$text', ' '] }, ['Ada', 'Lovelace']],
  [{ $split: ['$none', ' '] }, null],
  [{ $indexOfCP: ['$text', 'a'] }, 2],
  [{ $indexOfCP: ['$text', 'a', 3] }, 9],
  [{ $indexOfCP: ['$text', 'z'] }, -1],
  [{ $replaceOne: { input: 'aaa', find: 'a', replacement: '$1' } }, null],
  [{ $replaceOne: { input: 'aaa', find: 'a', replacement: { $literal: '$&' } } }, '$&aa'],
  [{ $replaceAll: { input: 'aba', find: 'a', replacement: 'c' } }, 'cbc'],
  [{ $regexMatch: { input: '$text', regex: /^ada/i } }, true],
  [{ $regexMatch: { input: '$text', regex: '^ada' } }, false],
  [{ $regexMatch: { input: '$text', regex: '^ada', options: 'i' } }, true],
  [{ $regexMatch: { input: '$none', regex: /x/ } }, false],
  // Arrays.
  [{ $size: '$tags' }, 3],
  [{ $size: { $ifNull: ['$nothing', []] } }, 0],
  [{ $arrayElemAt: ['$tags', -1] }, 'c'],
  [{ $arrayElemAt: ['$tags', 9] }, undefined],
  [{ $first: '$tags' }, 'a'],
  [{ $last: { $literal: [] } }, undefined],
  [{ $in: ['b', '$tags'] }, true],
  [{ $in: ['$n', '$tags'] }, false],
  [{ $concatArrays: ['$tags', ['d']] }, ['a', 'b', 'c', 'd']],
  [{ $slice: ['$tags', 2] }, ['a', 'b']],
  [{ $slice: ['$tags', -2] }, ['b', 'c']],
  [{ $slice: ['$tags', 1, 1] }, ['b']],
  [{ $reverseArray: '$tags' }, ['c', 'b', 'a']],
  [{ $isArray: '$tags' }, true],
  [{ $isArray: ['$n'] }, false],
  [{ $range: [0, 5, 2] }, [0, 2, 4]],
  [{ $range: [3, 0, -1] }, [3, 2, 1]],
  [{ $range: [3, 0] }, []],
  [{ $max: '$numbers' }, 'x'],
  [{ $min: '$numbers' }, 1],
  [{ $max: ['$n', 9, '$none'] }, 9],
  [{ $sum: '$numbers' }, 6],
  [{ $sum: ['$n', 2, 'x'] }, 7],
  [{ $sum: ['$n', '$big'] }, 2n ** 60n + 5n],
  [{ $sum: '$nothing' }, 0],
  [{ $avg: '$numbers' }, 2],
  [{ $avg: '$tags' }, null],
  [{ $map: { input: '$tags', in: { $concat: ['$$this', '!'] } } }, ['a!', 'b!', 'c!']],
  [{ $map: { input: '$lines', as: 'line', in: '$$line.n' } }, [2, 3, null]],
  [{ $map: { input: '$none', in: 1 } }, null],
  [
    { $filter: { input: '$lines', as: 'line', cond: { $gt: ['$$line.n', 2] } } },
    [{ sku: 'b', n: 3, note: 'x' }],
  ],
  [{ $filter: { input: '$tags', cond: true, limit: 2 } }, ['a', 'b']],
  [
    { $reduce: { input: '$tags', initialValue: '', in: { $concat: ['$$value', '$$this'] } } },
    'abc',
  ],
  [
    {
      $sum: {
        $map: {
          input: '$lines',
          as: 'o',
          in: { $sum: { $map: { input: '$tags', in: '$$o.n' } } },
        },
      },
    },
    15,
  ],
  // Objects and types.
  [{ $mergeObjects: ['$deep.a', { c: 2 }, null] }, { b: 1, c: 2 }],
  [{ $getField: 'text' }, 'Ada Lovelace'],
  [{ $getField: { field: 'b', input: '$deep.a' } }, 1],
  [{ $setField: { field: 'c', input: '$deep.a', value: 2 } }, { b: 1, c: 2 }],
  [{ $objectToArray: '$deep.a' }, [{ k: 'b', v: 1 }]],
  [
    {
      $arrayToObject: [
        [
          ['a', 1],
          ['b', 2],
        ],
      ],
    },
    { a: 1, b: 2 },
  ],
  [{ $arrayToObject: { $objectToArray: '$deep.a' } }, { b: 1 }],
  [{ $type: '$n' }, 'int'],
  [{ $type: '$big' }, 'long'],
  [{ $type: '$nothing' }, 'missing'],
  [{ $type: '$tags' }, 'array'],
  [{ $type: 1.5 }, 'double'],
  [{ $isNumber: '$big' }, true],
  [{ $toString: '$n' }, '5'],
  [{ $toString: '$none' }, null],
  [{ $toDouble: '2.5' }, 2.5],
  [{ $toInt: 2.9 }, 2],
  [{ $toInt: '12' }, 12],
  [{ $toBool: 'false' }, true],
  [{ $toBool: 0 }, false],
  [{ $toDate: 5 }, new Date(5)],
  [{ $convert: { input: 'x', to: 'int', onError: -1 } }, -1],
  [{ $convert: { input: '$none', to: 'int', onNull: 0 } }, 0],
];

describe('expressions', () => {
  test.each(rows.map((row) => [text(row[0]), ...row] as const))('%s', (_, expression, expected) => {
    expect(of(expression)).toEqual(expected);
  });

  test('has a case of MongoDB for each operator', () => {
    const { message } = failureOf(() => of({ $none: 1 }));
    const known = message.split('Allowed here: ')[1]?.replace(/\.$/, '').split(', ') ?? [];
    const documented = [documentedBasics, documentedDates, documentedValues];
    const proven = documented.flatMap(({ cases }) => Object.keys(cases));
    expect(known.filter((name) => !proven.includes(name))).toEqual([]);
  });

  test('reads own properties alone', () => {
    expect(of('$constructor')).toBeUndefined();
    expect(of('$tags.constructor')).toEqual([]);
    expect(of({ $getField: 'toString' })).toBeUndefined();
  });

  test('says which fields it reads', () => {
    const rootsOf = (expression: unknown) => [
      ...compileExpression(expression, '$expr', { now: 0 }).roots,
    ];
    expect(rootsOf({ $gt: ['$a.b', '$c'] })).toEqual(['a', 'c']);
    expect(rootsOf({ $map: { input: '$a', in: '$$this.b' } })).toEqual(['a']);
    expect(rootsOf('$$ROOT')).toContain('_id');
  });

  test.each<[unknown, string, string]>([
    [{ $ad: [1] }, '$expr.$ad', '$add'],
    [{ $gt: [1] }, '$expr.$gt', '2 arguments'],
    [{ $cond: [1, 2] }, '$expr.$cond', 'then'],
    [{ $cond: { if: 1 } }, '$expr.$cond', 'then'],
    [{ $add: [{ $foo: 1 }] }, '$expr.$add[0].$foo', '$foo'],
    [{ $gt: 1, $lt: 2 }, '$expr.$gt', 'one operator'],
    [{ 'a.b': 1 }, '$expr.a.b', 'plain fields'],
    ['$', '$expr', 'path'],
    ['$a..b', '$expr', 'path'],
    ['$a.__proto__', '$expr', 'path'],
    ['$$missing', '$expr', '$$missing'],
    [{ $map: { input: '$a', as: 'X', in: 1 } }, '$expr.$map.as', 'small letter'],
    [{ $filter: { input: '$a' } }, '$expr.$filter', 'cond'],
    [{ $filter: { input: '$a', cond: 1, extra: 1 } }, '$expr.$filter', 'cond'],
    [{ $switch: { branches: [] } }, '$expr.$switch.branches', 'case'],
    [{ $regexMatch: { input: '$a', regex: '$b' } }, '$expr.$regexMatch.regex', 'pattern'],
    [{ $regexMatch: { input: '$a', regex: '(' } }, '$expr.$regexMatch.regex', 'pattern'],
    [{ $convert: { input: 1, to: 'toString' } }, '$expr.$convert.to', 'double'],
    [{ $let: { vars: { A: 1 }, in: 1 } }, '$expr.$let.vars.A', 'small letter'],
    [{ $getField: '__proto__' }, '$expr.$getField', 'field'],
  ])('refuses %j', (expression, place, named) => {
    const error = failureOf(() => compileExpression(expression, '$expr', { now: 0 }));
    expect(error).toMatchObject({ place });
    expect(error.message).toContain(named);
  });

  test.each<[unknown, string]>([
    [{ $add: ['$text', 1] }, '$expr.$add'],
    [{ $divide: ['$n', 0] }, '$expr.$divide'],
    [{ $mod: ['$n', 0] }, '$expr.$mod'],
    [{ $size: '$n' }, '$expr.$size'],
    [{ $size: '$nothing' }, '$expr.$size'],
    [{ $in: [1, '$n'] }, '$expr.$in'],
    [{ $concat: ['$n'] }, '$expr.$concat'],
    [{ $strLenCP: '$none' }, '$expr.$strLenCP'],
    [{ $range: [0, 1e9] }, '$expr.$range'],
    [{ $toInt: 'x' }, '$expr.$toInt'],
    [{ $toDate: 'x' }, '$expr.$toDate'],
    [{ $mergeObjects: ['$n'] }, '$expr.$mergeObjects'],
    [{ $switch: { branches: [branch(false, 1)] } }, '$expr.$switch'],
  ])('%j meets a value of the wrong kind', (expression, place) => {
    expect(failureOf(() => of(expression))).toMatchObject({ code: 'operand_invalid', place });
  });

  test('nests at most 100 levels', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 150; level++) deep = { $abs: deep };
    expect(failureOf(() => of(deep))).toMatchObject({ code: 'operand_invalid' });
  });
});

const n = fc.integer({ min: -3, max: 3 });
const documents = fc.record(
  {
    _id: fc.constant('x'),
    a: n,
    b: fc.oneof(n, fc.constant(null)),
    s: fc.constantFrom('', 'a', 'Ab', 'ba'),
    list: fc.array(n, { maxLength: 4 }),
    rows: fc.array(fc.record({ n, s: fc.constantFrom('a', 'b') }), { maxLength: 3 }),
    o: fc.record({ a: n, list: fc.array(n, { maxLength: 2 }) }),
  },
  { requiredKeys: ['_id', 'a', 's', 'list', 'rows', 'o'], noNullPrototype: true },
);
const { number } = fc.letrec<{ number: unknown }>((tie) => ({
  number: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'expression' },
    fc.constantFrom<unknown>('$a', '$b', '$o.a', '$none'),
    n,
    fc
      .tuple(fc.constantFrom('$add', '$multiply', '$subtract'), tie('number'), tie('number'))
      .map(([name, x, y]) => ({ [name]: [x, y] })),
    fc
      .tuple(fc.constantFrom('$abs', '$floor', '$ceil'), tie('number'))
      .map(([name, x]) => ({ [name]: x })),
    fc.tuple(tie('number'), tie('number')).map((pair) => ({ $ifNull: pair })),
    fc
      .tuple(fc.constantFrom('$gt', '$lte'), tie('number'), tie('number'), tie('number'))
      .map(([name, x, y, z]) => ({
        $cond: [{ [name]: [{ $ifNull: [x, 0] }, { $ifNull: [y, 0] }] }, z, 0],
      })),
    fc.constantFrom<unknown>(
      { $size: '$list' },
      { $sum: '$list' },
      { $max: '$list' },
      { $sum: '$rows.n' },
      { $arrayElemAt: ['$list', 0] },
      { $strLenCP: '$s' },
    ),
    tie('number').map((x) => ({
      $sum: { $map: { input: '$list', as: 'i', in: { $add: ['$$i', x] } } },
    })),
    tie('number').map((x) => ({
      $size: {
        $filter: { input: '$rows', as: 'r', cond: { $gt: ['$$r.n', { $ifNull: [x, 0] }] } },
      },
    })),
    tie('number').map((x) => ({
      $reduce: { input: '$list', initialValue: x, in: { $add: ['$$value', '$$this'] } },
    })),
  ),
}));
/** mingo compares null and a missing value with nothing; the server has an order of all kinds. */
const present = number.map((value) => ({ $ifNull: [value, 0] }));
const truth = fc.oneof(
  fc
    .tuple(fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), present, present)
    .map(([name, x, y]) => ({ [name]: [x, y] })),
  present.map((x) => ({ $in: [x, '$list'] })),
  fc.constantFrom<unknown>(
    { $eq: [{ $toLower: '$s' }, 'ab'] },
    { $regexMatch: { input: '$s', regex: /a/ } },
    { $in: ['$s', '$rows.s'] },
  ),
);

test('$expr agrees with mingo', () => {
  fc.assert(
    fc.property(documents, truth, truth, (given, one, other) => {
      const expression = { $or: [{ $and: [one, other] }, { $not: [other] }] };
      const theirs = find([structuredClone(given)], { $expr: expression }).all().length > 0;
      expect(Boolean(of(expression, given)), JSON.stringify([given, expression])).toBe(theirs);
    }),
    runs(3000),
  );
});

describe('a long list', () => {
  test('of arrays is zipped', () => {
    const given = { lists: Array.from({ length: 200_000 }, (_, at) => [at]) };
    expect(of({ $size: { $arrayElemAt: [{ $zip: { inputs: '$lists' } }, 0] } }, given)).toBe(
      200_000,
    );
  });

  test('of matches is refused', () => {
    const given = { text: 'a'.repeat(1_000_001) };
    const all = { $size: { $regexFindAll: { input: '$text', regex: 'a' } } };
    expect(failureOf(() => of(all, given))).toMatchObject({ code: 'operand_invalid' });
  });
});

describe('a result that doubles with each step', () => {
  const doubling = (initialValue: unknown, step: unknown) => ({
    $reduce: { input: { $range: [0, 40] }, initialValue, in: step },
  });

  test.each([
    ['$concat', doubling('ab', { $concat: ['$$value', '$$value'] })],
    ['$concatArrays', doubling([1, 2], { $concatArrays: ['$$value', '$$value'] })],
    [
      '$replaceAll',
      doubling('a', { $replaceAll: { input: '$$value', find: 'a', replacement: 'aaaa' } }),
    ],
  ])('is refused of %s, with its place', (name, expression) => {
    const { evaluate } = compileExpression(expression, '$expr', { now: NOW });
    const refusal = { code: 'operand_invalid', place: `$expr.$reduce.in.${name}` };
    expect(() => evaluate(document)).toThrow(expect.objectContaining(refusal));
  });
});
