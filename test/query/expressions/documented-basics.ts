import { type Documented, REFUSED } from './documented-cases.ts';

const document = {
  none: null,
  hours: 80,
  price: 19.25,
  debt: -45.39,
  quizzes: [10, 6, 7],
  empty: [],
  words: ['foo', 'bar', 'baz', 'qux'],
  stock: { item: 'foo', qty: 25 },
  code: 'ABC1',
  desc: 'product 1',
};

const sums = { $add: ['$$value', '$$this'] };

/** An object with `then` looks like a promise to the linter. */
const when = (key: 'if' | 'case', test: unknown, value: unknown, rest: object = {}) =>
  Object.fromEntries([[key, test], ['then', value], ...Object.entries(rest)]);

/** What MongoDB's reference says of arithmetic, arrays, comparisons, conditions, texts, objects. */
export const documentedBasics: Documented = {
  document,
  cases: {
    // Arithmetic.
    $multiply: [
      [{ $multiply: ['$hours', 2, 0.5] }, 80],
      [{ $multiply: ['$hours', '$none'] }, null],
      [{ $multiply: ['$hours', '$code'] }, REFUSED],
    ],
    $divide: [
      [{ $divide: ['$hours', 8] }, 10],
      [{ $divide: [7, 8] }, 0.875],
      [{ $divide: ['$hours', 0] }, REFUSED],
      [{ $divide: ['$none', 8] }, null],
    ],
    $mod: [
      [{ $mod: ['$hours', 7] }, 3],
      [{ $mod: [40, 4] }, 0],
      [{ $mod: [-13, 9] }, -4],
      [{ $mod: [13, 0] }, REFUSED],
    ],
    $abs: [
      [{ $abs: -1 }, 1],
      [{ $abs: 1 }, 1],
      [{ $abs: '$none' }, null],
      [{ $abs: '$missing' }, null],
    ],
    $ceil: [
      [{ $ceil: 7.8 }, 8],
      [{ $ceil: -2.3 }, -2],
      [{ $ceil: '$none' }, null],
    ],
    $floor: [
      [{ $floor: 7.8 }, 7],
      [{ $floor: -2.3 }, -3],
      [{ $floor: '$none' }, null],
    ],
    // A half goes to the even neighbour.
    $round: [
      [{ $round: 10.5 }, 10],
      [{ $round: 11.5 }, 12],
      [{ $round: 12.5 }, 12],
      [{ $round: 13.5 }, 14],
      [{ $round: ['$price', 1] }, 19.2],
      [{ $round: ['$debt', 1] }, -45.4],
      [{ $round: ['$price', -1] }, 20],
      [{ $round: ['$debt', -1] }, -50],
      [{ $round: '$none' }, null],
    ],
    $trunc: [
      [{ $trunc: 7.85 }, 7],
      [{ $trunc: ['$price', 1] }, 19.2],
      [{ $trunc: ['$debt', 1] }, -45.3],
      [{ $trunc: ['$price', -1] }, 10],
      [{ $trunc: ['$debt', -1] }, -40],
    ],
    // Arrays.
    $isArray: [
      [{ $isArray: 'hello' }, false],
      [{ $isArray: ['hello'] }, false],
      [{ $isArray: [['hello']] }, true],
      [{ $isArray: ['$quizzes'] }, true],
    ],
    $size: [
      [{ $size: '$quizzes' }, 3],
      [{ $size: '$empty' }, 0],
      [{ $size: '$missing' }, REFUSED],
      [{ $size: '$code' }, REFUSED],
    ],
    $arrayElemAt: [
      [{ $arrayElemAt: [[1, 2, 3], 0] }, 1],
      [{ $arrayElemAt: [[1, 2, 3], -2] }, 2],
      [{ $arrayElemAt: [[1, 2, 3], 15] }, undefined],
      [{ $arrayElemAt: ['$none', 1] }, null],
    ],
    $first: [
      [{ $first: '$quizzes' }, 10],
      [{ $first: '$empty' }, undefined],
      [{ $first: '$none' }, null],
      [{ $first: '$code' }, REFUSED],
    ],
    $last: [
      [{ $last: '$quizzes' }, 7],
      [{ $last: '$empty' }, undefined],
      [{ $last: '$missing' }, null],
    ],
    $reverseArray: [
      [{ $reverseArray: '$quizzes' }, [7, 6, 10]],
      [{ $reverseArray: { $slice: ['$words', 1, 2] } }, ['baz', 'bar']],
      [{ $reverseArray: '$empty' }, []],
      [{ $reverseArray: '$none' }, null],
    ],
    $in: [
      [{ $in: [2, [1, 2, 3]] }, true],
      [{ $in: ['abc', ['xyz', 'abc']] }, true],
      [{ $in: ['xy', ['xyz', 'abc']] }, false],
      [{ $in: [['a'], ['a']] }, false],
      [{ $in: [['a'], [['a']]] }, true],
      [{ $in: ['a', '$missing'] }, REFUSED],
    ],
    $concatArrays: [
      [{ $concatArrays: [['hello', ' '], ['world']] }, ['hello', ' ', 'world']],
      [{ $concatArrays: [['hello'], [['world'], 'again']] }, ['hello', ['world'], 'again']],
      [{ $concatArrays: ['$quizzes', '$none'] }, null],
    ],
    $slice: [
      [{ $slice: [[1, 2, 3], 1, 1] }, [2]],
      [{ $slice: [[1, 2, 3], -2] }, [2, 3]],
      [{ $slice: [[1, 2, 3], 15, 2] }, []],
      [{ $slice: [[1, 2, 3], -15, 2] }, [1, 2]],
      [{ $slice: [[1, 2, 3], 1, 0] }, REFUSED],
    ],
    $range: [
      [{ $range: [0, 10, 2] }, [0, 2, 4, 6, 8]],
      [{ $range: [10, 0, -2] }, [10, 8, 6, 4, 2]],
      [{ $range: [0, 10, -2] }, []],
      [{ $range: [0, 5] }, [0, 1, 2, 3, 4]],
      [{ $range: [0, 5, 0] }, REFUSED],
    ],
    $max: [
      [{ $max: '$quizzes' }, 10],
      [{ $max: ['$hours', '$price', '$none'] }, 80],
      [{ $max: '$empty' }, null],
    ],
    $min: [
      [{ $min: '$quizzes' }, 6],
      [{ $min: ['$hours', '$price', '$none'] }, 19.25],
      [{ $min: '$missing' }, null],
    ],
    $sum: [
      [{ $sum: '$quizzes' }, 23],
      [{ $sum: ['$hours', '$quizzes'] }, 80],
      [{ $sum: '$code' }, 0],
    ],
    $avg: [
      [{ $avg: '$quizzes' }, 23 / 3],
      [{ $avg: ['$hours', 20, '$code'] }, 50],
      [{ $avg: '$empty' }, null],
    ],
    $map: [
      [{ $map: { input: '$quizzes', as: 'grade', in: { $add: ['$$grade', 2] } } }, [12, 8, 9]],
      [{ $map: { input: '$empty', in: 1 } }, []],
      [{ $map: { input: '$missing', in: '$$this' } }, null],
    ],
    $filter: [
      [{ $filter: { input: '$quizzes', as: 'q', cond: { $gte: ['$$q', 7] } } }, [10, 7]],
      [{ $filter: { input: '$quizzes', cond: { $gte: ['$$this', 1] }, limit: 2 } }, [10, 6]],
      [{ $filter: { input: '$none', cond: true } }, null],
      [{ $filter: { input: '$quizzes', cond: true, limit: 0 } }, REFUSED],
    ],
    $reduce: [
      [
        {
          $reduce: {
            input: [1, 2, 3, 4],
            initialValue: { sum: 5, product: 2 },
            in: {
              sum: { $add: ['$$value.sum', '$$this'] },
              product: { $multiply: ['$$value.product', '$$this'] },
            },
          },
        },
        { sum: 15, product: 48 },
      ],
      [{ $reduce: { input: '$quizzes', initialValue: 0, in: sums } }, 23],
      [{ $reduce: { input: '$empty', initialValue: 1, in: sums } }, 1],
      [{ $reduce: { input: '$none', initialValue: 1, in: sums } }, null],
    ],
    // Comparisons: by type first.
    $eq: [
      [{ $eq: ['$hours', 80] }, true],
      [{ $eq: ['$hours', '80'] }, false],
      [{ $eq: ['$none', '$missing'] }, false],
    ],
    $ne: [
      [{ $ne: ['$hours', 80] }, false],
      [{ $ne: ['$hours', '80'] }, true],
    ],
    $gt: [
      [{ $gt: ['$hours', 79] }, true],
      [{ $gt: ['$hours', 80] }, false],
      [{ $gt: ['$code', '$hours'] }, true],
    ],
    $gte: [
      [{ $gte: ['$hours', 80] }, true],
      [{ $gte: ['$hours', '$code'] }, false],
    ],
    $lt: [
      [{ $lt: ['$price', '$hours'] }, true],
      [{ $lt: ['$none', '$price'] }, true],
    ],
    $lte: [
      [{ $lte: ['$hours', 80] }, true],
      [{ $lte: ['$quizzes', '$stock'] }, false],
    ],
    $cmp: [
      [{ $cmp: ['$hours', 250] }, -1],
      [{ $cmp: ['$hours', 80] }, 0],
      [{ $cmp: ['$hours', 2] }, 1],
    ],
    // Booleans: all but false, null, 0 and what is missing is true.
    $and: [
      [{ $and: [1, 'green'] }, true],
      [{ $and: [] }, true],
      [{ $and: [[null], [false], [0]] }, true],
      [{ $and: ['$none', true] }, false],
      [{ $and: [0, true] }, false],
    ],
    $or: [
      [{ $or: [true, false] }, true],
      [{ $or: [[false], false] }, true],
      [{ $or: ['$none', 0, '$missing'] }, false],
      [{ $or: [] }, false],
    ],
    $not: [
      [{ $not: [true] }, false],
      [{ $not: [[false]] }, false],
      [{ $not: [false] }, true],
      [{ $not: ['$none'] }, true],
      [{ $not: [0] }, true],
    ],
    // Conditions.
    $cond: [
      [{ $cond: when('if', { $gte: ['$hours', 250] }, 30, { else: 20 }) }, 20],
      [{ $cond: [{ $gte: ['$hours', 50] }, 30, 20] }, 30],
      [{ $cond: when('if', true, 30) }, REFUSED],
    ],
    $ifNull: [
      [{ $ifNull: ['$none', 'unspecified'] }, 'unspecified'],
      [{ $ifNull: ['$missing', '$none', 'unspecified'] }, 'unspecified'],
      [{ $ifNull: ['$desc', 'unspecified'] }, 'product 1'],
    ],
    $switch: [
      [
        {
          $switch: {
            branches: [
              when('case', { $eq: [0, 5] }, 'equals'),
              when('case', { $gt: [0, 5] }, 'greater than'),
              when('case', { $lt: [0, 5] }, 'less than'),
            ],
          },
        },
        'less than',
      ],
      [{ $switch: { branches: [when('case', '$none', 1)], default: 'none' } }, 'none'],
      [{ $switch: { branches: [when('case', false, 1)] } }, REFUSED],
    ],
    // Variables.
    $let: [
      [
        {
          $let: {
            vars: { total: { $add: ['$hours', 20] }, half: 0.5 },
            in: { $multiply: ['$$total', '$$half'] },
          },
        },
        50,
      ],
      [
        {
          $let: {
            vars: { low: 1, high: '$$low' },
            in: { $gt: ['$$low', '$$high'] },
          },
        },
        REFUSED,
      ],
    ],
    $literal: [
      [{ $literal: '$hours' }, '$hours'],
      [{ $literal: { $add: [2, 3] } }, { $add: [2, 3] }],
    ],
    // Texts.
    $concat: [
      [{ $concat: ['$code', ' - ', '$desc'] }, 'ABC1 - product 1'],
      [{ $concat: ['$code', '$none'] }, null],
      [{ $concat: ['$code', 1] }, REFUSED],
    ],
    $toLower: [
      [{ $toLower: '$code' }, 'abc1'],
      [{ $toLower: '$none' }, ''],
    ],
    $toUpper: [
      [{ $toUpper: '$desc' }, 'PRODUCT 1'],
      [{ $toUpper: '$missing' }, ''],
    ],
    // Objects.
    $mergeObjects: [
      [{ $mergeObjects: [{ a: 1 }, null] }, { a: 1 }],
      [{ $mergeObjects: [null, null] }, {}],
      [{ $mergeObjects: [{ a: 1 }, { a: 2, b: 2 }] }, { a: 2, b: 2 }],
      [
        { $mergeObjects: [{ a: 1 }, { a: 2, b: 2 }, { a: 3, b: null, c: 3 }] },
        { a: 3, b: null, c: 3 },
      ],
      [{ $mergeObjects: ['$stock', '$code'] }, REFUSED],
    ],
    $objectToArray: [
      [
        { $objectToArray: '$stock' },
        [
          { k: 'item', v: 'foo' },
          { k: 'qty', v: 25 },
        ],
      ],
      [{ $objectToArray: '$none' }, null],
      [{ $objectToArray: '$code' }, REFUSED],
    ],
    $arrayToObject: [
      [
        {
          $arrayToObject: {
            $literal: [
              { k: 'item', v: 'abc123' },
              { k: 'qty', v: 25 },
            ],
          },
        },
        { item: 'abc123', qty: 25 },
      ],
      [
        {
          $arrayToObject: {
            $literal: [
              ['item', 'abc123'],
              ['qty', 25],
            ],
          },
        },
        { item: 'abc123', qty: 25 },
      ],
      [{ $arrayToObject: '$none' }, null],
      [{ $arrayToObject: '$quizzes' }, REFUSED],
    ],
  },
};
