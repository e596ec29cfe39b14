import { type Documented, REFUSED } from './documented-cases.ts';

const big = 2n ** 62n;
const at = new Date('2020-06-01T00:00Z');
const rose = { s: 'rose', n: 2 };
const iris = { s: 'iris', n: 1 };
const aster = { s: 'aster', n: 2 };
const bare = { n: null };
const document = {
  none: null,
  n: 5,
  half: 2.5,
  big,
  at,
  text: 'Café 💛',
  tags: ['a', 'b', 'a'],
  flowers: [rose, iris, aster, bare],
  numbers: [3, 1, null, 2],
  one: { a: 1, 'b.c': 2, $d: 3 },
};
const one = { ...document.one };

const pi = (value: number) => (value * Math.PI) / 180;

/** What MongoDB's reference says of operators but those of dates. */
export const documentedValues: Documented = {
  document,
  cases: {
    // Sets.
    $setUnion: [
      [{ $setUnion: ['$tags', ['c', 'a']] }, ['a', 'b', 'c']],
      [
        {
          $setUnion: [
            [1, [1]],
            [1n, [1], 2],
          ],
        },
        [1, [1], 2],
      ],
      [{ $setUnion: [] }, []],
      [{ $setUnion: ['$tags', '$none'] }, null],
      [{ $setUnion: ['$tags', 'a'] }, REFUSED],
    ],
    $setIntersection: [
      [{ $setIntersection: ['$tags', ['a', 'c']] }, ['a']],
      [{ $setIntersection: ['$tags', [['a']]] }, []],
      [{ $setIntersection: [['a', 'b'], ['b', 'c'], ['b']] }, ['b']],
      [{ $setIntersection: ['$missing', ['a']] }, null],
    ],
    $setDifference: [
      [{ $setDifference: ['$tags', ['b']] }, ['a']],
      [{ $setDifference: [['a', 'b'], [['a', 'b']]] }, ['a', 'b']],
      [{ $setDifference: ['$tags', '$none'] }, null],
      [{ $setDifference: ['$tags', 'b'] }, REFUSED],
    ],
    $setEquals: [
      [{ $setEquals: ['$tags', ['b', 'a']] }, true],
      [{ $setEquals: ['$tags', ['a']] }, false],
      [{ $setEquals: [['a'], '$tags'] }, false],
      [{ $setEquals: ['$tags', [['a', 'b']]] }, false],
      [{ $setEquals: [{ $literal: [{ a: 1, b: 2 }] }, { $literal: [{ b: 2, a: 1 }] }] }, false],
      [{ $setEquals: ['$tags', '$none'] }, REFUSED],
      [{ $setEquals: ['$tags'] }, REFUSED],
    ],
    $setIsSubset: [
      [{ $setIsSubset: [['a'], '$tags'] }, true],
      [{ $setIsSubset: ['$tags', ['a']] }, false],
      [{ $setIsSubset: [[], '$tags'] }, true],
      [{ $setIsSubset: ['$none', '$tags'] }, REFUSED],
    ],
    $allElementsTrue: [
      [{ $allElementsTrue: [[true, 1, 'x']] }, true],
      [{ $allElementsTrue: [[[false]]] }, true],
      [{ $allElementsTrue: [[]] }, true],
      [{ $allElementsTrue: ['$numbers'] }, false],
      [{ $allElementsTrue: [[0]] }, false],
      [{ $allElementsTrue: ['$none'] }, REFUSED],
    ],
    $anyElementTrue: [
      [{ $anyElementTrue: [[true, false]] }, true],
      [{ $anyElementTrue: [[[false]]] }, true],
      [{ $anyElementTrue: [[null, false, 0]] }, false],
      [{ $anyElementTrue: [[]] }, false],
      [{ $anyElementTrue: ['$n'] }, REFUSED],
    ],
    // Numbers.
    $sin: [
      [{ $sin: { $degreesToRadians: 90 } }, 1],
      [{ $sin: '$none' }, null],
      [{ $sin: Number.POSITIVE_INFINITY }, REFUSED],
      [{ $sin: 'x' }, REFUSED],
    ],
    $cos: [[{ $cos: 0 }, 1]],
    $tan: [[{ $tan: 0 }, 0]],
    $asin: [
      [{ $asin: 1 }, Math.PI / 2],
      [{ $asin: 2 }, REFUSED],
    ],
    $acos: [
      [{ $acos: 1 }, 0],
      [{ $acos: -2 }, REFUSED],
    ],
    $atan: [[{ $atan: 1 }, Math.PI / 4]],
    $atan2: [
      [{ $atan2: [4, 3] }, Math.atan2(4, 3)],
      [{ $atan2: ['$n', '$none'] }, null],
    ],
    $sinh: [[{ $sinh: 1 }, Math.sinh(1)]],
    $cosh: [[{ $cosh: 0 }, 1]],
    $tanh: [[{ $tanh: 0 }, 0]],
    $asinh: [[{ $asinh: 1 }, Math.asinh(1)]],
    $acosh: [
      [{ $acosh: 3 }, Math.acosh(3)],
      [{ $acosh: 0.5 }, REFUSED],
    ],
    $atanh: [
      [{ $atanh: 1 }, Number.POSITIVE_INFINITY],
      [{ $atanh: 2 }, REFUSED],
    ],
    $degreesToRadians: [[{ $degreesToRadians: 180 }, pi(180)]],
    $radiansToDegrees: [[{ $radiansToDegrees: Math.PI }, 180]],
    $sqrt: [
      [{ $sqrt: 25 }, 5],
      [{ $sqrt: Number.NaN }, Number.NaN],
      [{ $sqrt: -1 }, REFUSED],
    ],
    $exp: [
      [{ $exp: 0 }, 1],
      [{ $exp: 1 }, Math.E],
    ],
    $ln: [
      [{ $ln: 1 }, 0],
      [{ $ln: 0 }, REFUSED],
    ],
    $log: [
      [{ $log: [100, 10] }, 2],
      [{ $log: [100, '$none'] }, null],
      [{ $log: [0, 10] }, REFUSED],
      [{ $log: [100, 1] }, REFUSED],
    ],
    $log10: [
      [{ $log10: 1000 }, 3],
      [{ $log10: -1 }, REFUSED],
    ],
    $pow: [
      [{ $pow: [5, 2] }, 25],
      [{ $pow: [5, -2] }, 0.04],
      [{ $pow: [-5, 0.5] }, Number.NaN],
      [{ $pow: [0, -1] }, REFUSED],
    ],
    $bitAnd: [
      [{ $bitAnd: [6, 3] }, 2],
      [{ $bitAnd: [] }, -1],
      [{ $bitAnd: ['$big', 2 ** 40] }, 0n],
      [{ $bitAnd: [1, '$none'] }, null],
      [{ $bitAnd: [1.5, 1] }, REFUSED],
    ],
    $bitOr: [
      [{ $bitOr: [6, 3] }, 7],
      [{ $bitOr: [] }, 0],
      [{ $bitOr: [-1, 2 ** 40] }, -1],
    ],
    $bitXor: [[{ $bitXor: [6, 3] }, 5]],
    $bitNot: [
      [{ $bitNot: 5 }, -6],
      [{ $bitNot: '$big' }, ~big],
      [{ $bitNot: '$none' }, null],
      [{ $bitNot: '$half' }, REFUSED],
    ],
    $stdDevPop: [
      [{ $stdDevPop: [1, 3] }, 1],
      [{ $stdDevPop: '$numbers' }, Math.sqrt(2 / 3)],
      [{ $stdDevPop: '$tags' }, null],
    ],
    $stdDevSamp: [
      [{ $stdDevSamp: '$numbers' }, 1],
      [{ $stdDevSamp: '$n' }, null],
    ],
    $add: [
      [{ $add: ['$at', 1, 2] }, new Date(at.getTime() + 3)],
      [{ $add: ['$at', 1e20] }, REFUSED],
      [{ $add: ['$at', '$at'] }, REFUSED],
    ],
    $subtract: [
      [{ $subtract: ['$at', '$at'] }, 0],
      [{ $subtract: ['$at', Number.NaN] }, REFUSED],
      [{ $subtract: [5, '$at'] }, REFUSED],
    ],
    // Strings.
    $regexFind: [
      [
        { $regexFind: { input: '$text', regex: /(f)(é)( x)?/ } },
        { match: 'fé', idx: 2, captures: ['f', 'é', null] },
      ],
      [
        { $regexFind: { input: '💛a', regex: 'A', options: 'i' } },
        { match: 'a', idx: 1, captures: [] },
      ],
      [{ $regexFind: { input: '$text', regex: /x/ } }, null],
      [{ $regexFind: { input: '$none', regex: /x/ } }, null],
      [{ $regexFind: { input: '$n', regex: /x/ } }, REFUSED],
      [{ $regexFind: { input: '$text' } }, REFUSED],
      [{ $regexFind: { input: '$text', regex: '$tags' } }, REFUSED],
    ],
    $regexFindAll: [
      [
        { $regexFindAll: { input: 'ab💛ac', regex: /a(.)/ } },
        [
          { match: 'ab', idx: 0, captures: ['b'] },
          { match: 'ac', idx: 3, captures: ['c'] },
        ],
      ],
      [{ $regexFindAll: { input: '$text', regex: 'z' } }, []],
      [{ $regexFindAll: { input: '$missing', regex: 'z' } }, []],
    ],
    $regexMatch: [
      [{ $regexMatch: { input: '$text', regex: /CAF/, options: 'i' } }, true],
      [{ $regexMatch: { input: '$none', regex: /x/ } }, false],
    ],
    $strcasecmp: [
      [{ $strcasecmp: ['abc', 'ABC'] }, 0],
      [{ $strcasecmp: ['b', 'A'] }, 1],
      [{ $strcasecmp: ['$none', 'a'] }, -1],
    ],
    $strLenBytes: [
      [{ $strLenBytes: '$text' }, 10],
      [{ $strLenBytes: '' }, 0],
      [{ $strLenBytes: '$none' }, REFUSED],
    ],
    $strLenCP: [[{ $strLenCP: '$text' }, 6]],
    $substrBytes: [
      [{ $substrBytes: ['hello', 1, 3] }, 'ell'],
      [{ $substrBytes: ['$text', 0, 5] }, 'Café'],
      [{ $substrBytes: ['$text', 3, -1] }, 'é 💛'],
      [{ $substrBytes: ['$text', 20, 2] }, ''],
      [{ $substrBytes: ['$none', 0, 2] }, ''],
      [{ $substrBytes: ['$text', 4, 2] }, REFUSED],
      [{ $substrBytes: ['$text', -1, 2] }, REFUSED],
    ],
    $substr: [[{ $substr: ['hello', 1, -1] }, 'ello']],
    $substrCP: [
      [{ $substrCP: ['$text', 3, 3] }, 'é 💛'],
      [{ $substrCP: ['$text', 0, -1] }, REFUSED],
    ],
    $indexOfBytes: [
      [{ $indexOfBytes: ['cafeteria', 'e'] }, 3],
      [{ $indexOfBytes: ['cafétéria', 'é'] }, 3],
      [{ $indexOfBytes: ['cafétéria', 't'] }, 5],
      [{ $indexOfBytes: ['foo.bar.fi', '.', 5] }, 7],
      [{ $indexOfBytes: ['vanilla', 'll', 0, 5] }, -1],
      [{ $indexOfBytes: ['vanilla', 'll', 12] }, -1],
      [{ $indexOfBytes: ['$none', 'a'] }, null],
      [{ $indexOfBytes: ['vanilla', '$none'] }, REFUSED],
      [{ $indexOfBytes: ['vanilla', 'a', -1] }, REFUSED],
    ],
    $indexOfCP: [[{ $indexOfCP: ['cafétéria', 't'] }, 4]],
    $trim: [
      [{ $trim: { input: ' \n good bye \t ' } }, 'good bye'],
      [{ $trim: { input: 'ggggoodbyeeeee', chars: 'ge' } }, 'oodby'],
      [{ $trim: { input: '$text', chars: '$none' } }, null],
      [{ $trim: { input: '$text', chars: '$missing' } }, null],
    ],
    $ltrim: [[{ $ltrim: { input: 'xxa x', chars: 'x' } }, 'a x']],
    $rtrim: [[{ $rtrim: { input: 'x a xx', chars: 'x' } }, 'x a ']],
    $split: [
      [{ $split: ['June-15-2013', '-'] }, ['June', '15', '2013']],
      [{ $split: ['banana split', 'a'] }, ['b', 'n', 'n', ' split']],
      [{ $split: ['headphone jack', 7] }, REFUSED],
      [{ $split: ['headphone jack', ''] }, REFUSED],
      [{ $split: ['astronomical', '-'] }, ['astronomical']],
    ],
    $replaceOne: [
      [{ $replaceOne: { input: 'blue blue', find: 'blue', replacement: 'red' } }, 'red blue'],
      [{ $replaceOne: { input: 'Café', find: 'fe', replacement: 'x' } }, 'Café'],
      [{ $replaceOne: { input: '$none', find: 'a', replacement: 'b' } }, null],
      [{ $replaceOne: { input: '$n', find: 'a', replacement: 'b' } }, REFUSED],
    ],
    $replaceAll: [
      [{ $replaceAll: { input: 'blue blue', find: 'blue', replacement: 'red' } }, 'red red'],
    ],
    // Arrays.
    $indexOfArray: [
      [{ $indexOfArray: ['$tags', 'a'] }, 0],
      [{ $indexOfArray: ['$tags', 'a', 1] }, 2],
      [{ $indexOfArray: ['$tags', 'a', 1, 2] }, -1],
      [{ $indexOfArray: ['$tags', ['a', 'b']] }, -1],
      [{ $indexOfArray: ['$numbers', 2n] }, 3],
      [{ $indexOfArray: ['$none', 'a'] }, null],
      [{ $indexOfArray: ['$text', 'a'] }, REFUSED],
      [{ $indexOfArray: ['$tags', 'a', -1] }, REFUSED],
    ],
    $sortArray: [
      [{ $sortArray: { input: '$numbers', sortBy: 1 } }, [null, 1, 2, 3]],
      [{ $sortArray: { input: '$numbers', sortBy: -1 } }, [3, 2, 1, null]],
      [
        { $sortArray: { input: [20, { a: 1 }, 'x', [3], null], sortBy: 1 } },
        [null, 20, 'x', { a: 1 }, [3]],
      ],
      [{ $sortArray: { input: '$flowers', sortBy: { n: -1, s: 1 } } }, [aster, rose, iris, bare]],
      [{ $sortArray: { input: '$none', sortBy: 1 } }, null],
      [{ $sortArray: { input: '$n', sortBy: 1 } }, REFUSED],
      [{ $sortArray: { input: '$numbers', sortBy: 2 } }, REFUSED],
      [{ $sortArray: { input: '$numbers', sortBy: { s: 'asc' } } }, REFUSED],
    ],
    $zip: [
      [{ $zip: { inputs: [['a'], ['b'], ['c']] } }, [['a', 'b', 'c']]],
      [
        { $zip: { inputs: ['$numbers', '$tags'] } },
        [
          [3, 'a'],
          [1, 'b'],
          [null, 'a'],
        ],
      ],
      [
        { $zip: { inputs: [[1], ['a', 'b']], useLongestLength: true } },
        [
          [1, 'a'],
          [null, 'b'],
        ],
      ],
      [
        { $zip: { inputs: [[1], ['a', 'b']], useLongestLength: true, defaults: [0, 'z'] } },
        [
          [1, 'a'],
          [0, 'b'],
        ],
      ],
      [{ $zip: { inputs: ['$tags', '$none'] } }, null],
      [{ $zip: { inputs: ['$tags', '$n'] } }, REFUSED],
      [{ $zip: { inputs: ['$tags'], defaults: [1] } }, REFUSED],
    ],
    $firstN: [
      [{ $firstN: { n: 2, input: '$numbers' } }, [3, 1]],
      [{ $firstN: { n: 9, input: '$numbers' } }, [3, 1, null, 2]],
      [{ $firstN: { n: 0, input: '$numbers' } }, REFUSED],
      [{ $firstN: { n: 1, input: '$none' } }, REFUSED],
    ],
    $lastN: [[{ $lastN: { n: 2, input: '$numbers' } }, [null, 2]]],
    $minN: [[{ $minN: { n: 2, input: '$numbers' } }, [1, 2]]],
    $maxN: [
      [{ $maxN: { n: 2, input: '$numbers' } }, [3, 2]],
      [{ $maxN: { n: '$half', input: '$numbers' } }, REFUSED],
    ],
    // Objects.
    $getField: [
      [{ $getField: { field: 'b.c', input: '$one' } }, 2],
      [{ $getField: { field: { $literal: '$d' }, input: '$one' } }, 3],
      [{ $getField: { field: { $concat: ['b', '.', 'c'] }, input: '$one' } }, 2],
      [{ $getField: { field: 'x', input: '$one' } }, undefined],
      [{ $getField: { field: 'x', input: '$n' } }, undefined],
      [{ $getField: { $toLower: 'HALF' } }, 2.5],
      [{ $getField: { field: 5, input: '$one' } }, REFUSED],
    ],
    $setField: [
      [{ $setField: { field: 'b.c', input: '$one', value: 9 } }, { ...one, 'b.c': 9 }],
      [
        { $setField: { field: { $literal: '$d' }, input: '$one', value: '$$REMOVE' } },
        { a: 1, 'b.c': 2 },
      ],
      [{ $setField: { field: 'x', input: '$none', value: 1 } }, null],
      [{ $setField: { field: 'x', input: '$n', value: 1 } }, REFUSED],
    ],
    $unsetField: [
      [{ $unsetField: { field: 'b.c', input: '$one' } }, { a: 1, $d: 3 }],
      [{ $unsetField: { field: 'x', input: '$one' } }, one],
      [{ $unsetField: { field: 'x', input: '$none' } }, null],
      [{ $unsetField: { field: 'x', input: '$n' } }, REFUSED],
    ],
    // Kinds.
    $toInt: [
      [{ $toInt: true }, 1],
      [{ $toInt: 1.99999 }, 1],
      [{ $toInt: -5.5 }, -5],
      [{ $toInt: '-2' }, -2],
      [{ $toInt: 5n }, 5],
      [{ $toInt: '2.5' }, REFUSED],
      [{ $toInt: '0x6400' }, REFUSED],
      [{ $toInt: 2 ** 31 }, REFUSED],
      [{ $toInt: '$at' }, REFUSED],
      [{ $toInt: Number.NaN }, REFUSED],
      [{ $toInt: '$none' }, null],
    ],
    $toLong: [
      [{ $toLong: 5.5 }, 5],
      [{ $toLong: '$big' }, big],
      [{ $toLong: '9007199254740993' }, 2n ** 53n + 1n],
      [{ $toLong: '$at' }, at.getTime()],
      [{ $toLong: 2 ** 63 }, REFUSED],
      [{ $toLong: '2.5' }, REFUSED],
    ],
    $toDouble: [
      [{ $toDouble: false }, 0],
      [{ $toDouble: '-5.5' }, -5.5],
      [{ $toDouble: '1e3' }, 1000],
      [{ $toDouble: '$at' }, at.getTime()],
      [{ $toDouble: ' 5' }, REFUSED],
      [{ $toDouble: '0x10' }, REFUSED],
      [{ $toDouble: '' }, REFUSED],
    ],
    $toString: [
      [{ $toString: true }, 'true'],
      [{ $toString: 2.5 }, '2.5'],
      [{ $toString: '$at' }, '2020-06-01T00:00:00.000Z'],
      [{ $toString: '$big' }, String(big)],
      [{ $toString: '$tags' }, REFUSED],
    ],
    $toBool: [
      [{ $toBool: 1.9 }, true],
      [{ $toBool: 0 }, false],
      [{ $toBool: '' }, true],
      [{ $toBool: '$at' }, true],
      [{ $toBool: '$none' }, null],
    ],
    $convert: [
      [{ $convert: { input: '5', to: 'int' } }, 5],
      [{ $convert: { input: 1.5, to: 18 } }, 1],
      [{ $convert: { input: '$n', to: { $cond: [true, 'string', 'int'] } } }, '5'],
      [{ $convert: { input: '$n', to: '$none' } }, null],
      [{ $convert: { input: 'x', to: 'date', onError: '$n' } }, 5],
      [{ $convert: { input: '$missing', to: 'date', onNull: '$n' } }, 5],
      [{ $convert: { input: { $divide: [1, 0] }, to: 'int', onError: 0 } }, REFUSED],
      [{ $convert: { input: 5, to: 'decimal' } }, REFUSED],
      [{ $convert: { input: 'x', to: 'int' } }, REFUSED],
    ],
    $isNumber: [
      [{ $isNumber: '$big' }, true],
      [{ $isNumber: '$text' }, false],
      [{ $isNumber: '$missing' }, false],
    ],
    $type: [
      [{ $type: '$at' }, 'date'],
      [{ $type: '$missing' }, 'missing'],
    ],
  },
};
