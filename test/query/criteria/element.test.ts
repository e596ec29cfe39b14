import { matchTable } from './match-table.ts';

matchTable('$exists', [
  {
    shows: 'finds null and undefined',
    criteria: { a: { $exists: true } },
    matches: [{ a: null }, { a: undefined }, { a: [] }, { a: 0 }],
    misses: [{}, { b: 1 }],
  },
  {
    shows: 'of false finds missing only',
    criteria: { a: { $exists: false } },
    matches: [{}],
    misses: [{ a: null }, { a: undefined }],
  },
  {
    shows: 'looks into the objects of an array',
    criteria: { 'a.b': { $exists: true } },
    matches: [{ a: [{}, { b: undefined }] }, { a: { b: null } }],
    misses: [{ a: [{}] }, { a: [1] }, { a: 1 }, { a: [] }],
  },
  {
    shows: 'of false over an array wants none of it',
    criteria: { 'a.b': { $exists: false } },
    matches: [{ a: [{}] }, { a: [] }, { a: [1] }, {}],
    misses: [{ a: [{}, { b: 1 }] }],
  },
  {
    shows: 'of a position',
    criteria: { 'a.1': { $exists: true } },
    matches: [{ a: [1, 2] }, { a: { 1: 0 } }],
    misses: [{ a: [1] }],
  },
  {
    shows: 'takes operands for their truth, as the server does',
    criteria: { a: { $exists: 0 } },
    matches: [{}],
    misses: [{ a: 1 }],
  },
  {
    shows: 'goes along with other operators',
    criteria: { a: { $exists: true, $ne: 5 } },
    matches: [{ a: undefined }],
    misses: [{}, { a: 5 }],
  },
  {
    shows: 'reaches below two fields',
    criteria: { 'a.b.c': { $exists: true } },
    matches: [{ a: { b: { c: undefined } } }],
    misses: [{ a: { b: {} } }, { a: { b: 1 } }],
  },
]);

const of = (type: unknown, matches: readonly unknown[], misses: readonly unknown[]) => ({
  shows: `of ${String(type)}`,
  criteria: { a: { $type: type } },
  matches: matches.map((a) => ({ a })),
  misses: misses.map((a) => ({ a })),
});

matchTable('$type', [
  of('number', [1, 1.5, 1n, Number.NaN], ['1', true]),
  of('double', [1.5, 1, Number.NaN], [1n]),
  of(1, [1.5], ['1']),
  of('int', [1, -(2 ** 31)], [1.5, 2 ** 31, 1n, Number.NaN]),
  of('long', [1n, 2 ** 31, -(2 ** 31) - 1], [1, 1.5, 2 ** 63, Number.POSITIVE_INFINITY]),
  of('string', ['', ['x', 1]], [1, [1]]),
  of('object', [{}, new Map(), new Set(), [{}]], [[], null, new Date()]),
  of(3, [{}], [[]]),
  of('array', [[], [[]]], [{}, 'x']),
  of(4, [[1]], [{}]),
  of(
    'binData',
    [new Uint8Array(1), new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Blob([])],
    [[1]],
  ),
  of('bool', [true, false], [0, 'true']),
  of('date', [new Date()], [0, '2020-01-01']),
  of('null', [null, [null]], [undefined, 0]),
  of('undefined', [undefined], [null]),
  of('regex', [/x/], ['x']),
  of('objectId', [], ['0123456789ab0123456789ab', {}]),
  of(['string', 8], ['x', true], [1]),
  { shows: 'of null does not find missing', criteria: { a: { $type: 'null' } }, misses: [{}] },
  { shows: 'of undefined does not find missing', criteria: { a: { $type: 6 } }, misses: [{}] },
]);
