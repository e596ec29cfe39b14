import { expect, test } from 'vitest';
import { findCycle } from './find-cycle.ts';
import { findSerialOrder } from './find-serial-order.ts';
import { formatHistory } from './format-history.ts';
import { historyOf, queryPrefix, read, write } from './hand-made.ts';

test('a serial order names the transactions that took effect', () => {
  const history = historyOf(
    { a: 1 },
    [
      [1, 9, [read('a', 20), write('a', 10)]],
      [1, 9, [read('a', 1), write('a', 20)]],
      [1, 9, [read('a', 10), write('a', 30)], 'unknown'],
      [1, 9, [read('a', 1), write('a', 40)], 'unknown'],
      [1, 9, [read('a', 1), write('a', 50)], 'aborted'],
    ],
    { a: 30 },
  );
  expect(findSerialOrder(history)).toEqual(['t2', 't1', 't3']);
});

test('too long a history is refused instead of searched in part', () => {
  const row = [1, 2, [read('a', 1)]] as const;
  const history = historyOf({ a: 1 }, Array(31).fill(row), { a: 1 });
  expect(() => findSerialOrder(history)).toThrow('33 transactions are too many');
});

test('a cycle explains each of its steps', () => {
  const history = historyOf(
    {},
    [
      [1, 4, [queryPrefix('p', {}), read('a'), write('a', 1), write('p1', 10)]],
      [2, 5, [read('a', 1), queryPrefix('p', {})]],
    ],
    { a: 1, p1: 10 },
  );
  expect(findCycle(history)?.explanation.split('\n')).toEqual([
    't1 → t2 (wr): t1 wrote a = 1, then t2 read a = 1',
    't2 → t1 (rw): t2 did not find p1 by p*, before t1 wrote p1 = 10',
  ]);
});

test('a lost update names both transactions and what they wrote', () => {
  const history = historyOf(
    { a: 1 },
    [
      [1, 4, [read('a', 1), write('a', 10)]],
      [2, 3, [read('a', 1), write('a', 20)]],
    ],
    { a: 10 },
  );
  expect(findCycle(history)).toEqual({
    kind: 'lost-update',
    transactions: ['t1', 't2'],
    explanation: 'the same a was changed by t1 to 10 and t2 to 20',
  });
});

test('a history prints one line for each transaction', () => {
  const history = historyOf(
    { a: 1 },
    [
      [3, 4, [read('b'), write('a')], 'unknown'],
      [1, 2.25, [queryPrefix('a', { a: 1 }), write('b', { n: 1 })]],
    ],
    { b: { n: 1 } },
  );
  expect(formatHistory(history).split('\n')).toEqual([
    'initial: {a = 1}',
    't2 committed 1–2.3: a* finds {a = 1}; b := {"n":1}',
    't1 unknown   3–?: b is missing; delete a',
    'at rest: {b = {"n":1}}',
    'after a restart: {b = {"n":1}}',
  ]);
});
