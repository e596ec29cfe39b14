import { expect, test } from 'vitest';
import { compileUpdate } from '../../../src/query/update/compile-update.ts';

const COUNT = 2000;
let reads = 0;

/** Objects that count how often a comparison reads them. */
const objects = (from = 0) =>
  Array.from({ length: COUNT }, (_, n) => ({
    get n() {
      reads++;
      return from + n;
    },
  }));

test.each<[string, object]>([
  ['$addToSet of one object', { $addToSet: { list: { n: -1 } } }],
  ['$addToSet of as many that are there', { $addToSet: { list: { $each: objects() } } }],
  ['$addToSet of as many new ones', { $addToSet: { list: { $each: objects(COUNT) } } }],
  ['$pullAll of all objects', { $pullAll: { list: objects() } }],
  ['$pullAll of other objects', { $pullAll: { list: objects(COUNT) } }],
])('%s does not compare every object with every other', (_, changes) => {
  const list = objects();
  reads = 0;
  compileUpdate(changes)({ list }, 0);
  expect(reads).toBeLessThan(200 * COUNT);
});
