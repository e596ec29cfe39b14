import { expect, test } from 'vitest';
import { type AnomalyKind, findCycle } from './find-cycle.ts';
import { findSerialOrder } from './find-serial-order.ts';
import { historyOf, queryPrefix, read, write } from './hand-made.ts';
import type { History } from './history.ts';

const A = { a: 1 };
const AB = { a: 1, b: 2 };

/** Histories that no serial order explains. */
const ANOMALIES: Record<string, readonly [AnomalyKind, History]> = {
  'a dirty read': [
    'dirty-read',
    historyOf(
      A,
      [
        [1, 4, [read('a', 1), write('a', 10)], 'aborted'],
        [2, 3, [read('a', 10)]],
      ],
      A,
    ),
  ],
  'a read of a write that its transaction replaced': [
    'intermediate-read',
    historyOf(
      A,
      [
        [1, 4, [read('a', 1), write('a', 10), write('a', 11)]],
        [2, 3, [read('a', 10)]],
      ],
      { a: 11 },
    ),
  ],
  'a transaction that does not see its own write': [
    'wrong-answer',
    historyOf(A, [[1, 2, [read('a', 1), write('a', 10), read('a', 1)]]], { a: 10 }),
  ],
  'a query that does not find an own insert': [
    'wrong-answer',
    historyOf({}, [[1, 2, [write('a', 10), queryPrefix('a', {})]]], { a: 10 }),
  ],
  'a value from nowhere': ['impossible-read', historyOf(A, [[1, 2, [read('a', 5)]]], A)],
  'a lost update': [
    'lost-update',
    historyOf(
      A,
      [
        [1, 4, [read('a', 1), write('a', 10)]],
        [2, 3, [read('a', 1), write('a', 20)]],
      ],
      { a: 10 },
    ),
  ],
  'two inserts of the same key': [
    'lost-update',
    historyOf(
      {},
      [
        [1, 4, [read('a'), write('a', 10)]],
        [2, 3, [read('a'), write('a', 20)]],
      ],
      { a: 10 },
    ),
  ],
  'write skew': [
    'write-skew',
    historyOf(
      AB,
      [
        [1, 4, [read('a', 1), read('b', 2), write('a', 10)]],
        [2, 3, [read('a', 1), read('b', 2), write('b', 20)]],
      ],
      { a: 10, b: 20 },
    ),
  ],
  'a phantom': [
    'phantom',
    historyOf(
      {},
      [
        [1, 4, [queryPrefix('p', {}), read('p1'), write('p1', 10)]],
        [2, 3, [queryPrefix('p', {}), read('p2'), write('p2', 20)]],
      ],
      { p1: 10, p2: 20 },
    ),
  ],
  'a fractured read': [
    'fractured-read',
    historyOf(
      AB,
      [
        [1, 3, [read('a', 1), read('b', 2), write('a', 10), write('b', 20)]],
        [2, 4, [read('a', 1), read('b', 20)]],
      ],
      { a: 10, b: 20 },
    ),
  ],
  'two reads of one key that differ': [
    'fractured-read',
    historyOf(
      A,
      [
        [1, 4, [read('a', 1), read('a', 10)]],
        [2, 3, [read('a', 1), write('a', 10)]],
      ],
      { a: 10 },
    ),
  ],
  'read skew over two transactions': [
    'read-skew',
    historyOf(
      AB,
      [
        [1, 9, [read('a', 1), read('b', 20)]],
        [2, 8, [read('a', 1), write('a', 10)]],
        [3, 7, [read('a', 10), read('b', 2), write('b', 20)]],
      ],
      { a: 10, b: 20 },
    ),
  ],
  'a long fork': [
    'long-fork',
    historyOf(
      AB,
      [
        [1, 9, [read('a', 1), write('a', 10)]],
        [1, 9, [read('b', 2), write('b', 20)]],
        [1, 9, [read('a', 10), read('b', 2)]],
        [1, 9, [read('a', 1), read('b', 20)]],
      ],
      { a: 10, b: 20 },
    ),
  ],
  'two transactions that see the writes of each other': [
    'circular-flow',
    historyOf(
      AB,
      [
        [1, 4, [read('b', 20), read('a', 1), write('a', 10)]],
        [2, 3, [read('a', 10), read('b', 2), write('b', 20)]],
      ],
      { a: 10, b: 20 },
    ),
  ],
  'half of an acknowledged commit after a crash': [
    'fractured-read',
    historyOf(AB, [[1, 2, [read('a', 1), read('b', 2), write('a', 10), write('b', 20)]]], {
      a: 10,
      b: 2,
    }),
  ],
  'half of a commit without an answer after a crash': [
    'fractured-read',
    historyOf(
      AB,
      [[1, 2, [read('a', 1), read('b', 2), write('a', 10), write('b', 20)], 'unknown']],
      { a: 10, b: 2 },
    ),
  ],
  'half of a transaction that deletes, without an answer': [
    'fractured-read',
    historyOf(AB, [[1, 2, [read('a', 1), read('b', 2), write('a'), write('b')], 'unknown']], {
      b: 2,
    }),
  ],
  'an acknowledged commit that a crash has lost': [
    'real-time-violation',
    historyOf(A, [[1, 2, [read('a', 1), write('a', 10)]]], A),
  ],
  'an aborted transaction that had an effect': [
    'dirty-read',
    historyOf(A, [[1, 2, [read('a', 1), write('a', 10)], 'aborted']], { a: 10 }),
  ],
  'a sum that counts a commit twice': [
    'impossible-read',
    historyOf({ a: 100 }, [[1, 2, [read('a', 100), write('a', 110)]]], { a: 120 }),
  ],
  'a commit that is applied again over a later one': [
    'real-time-violation',
    historyOf(
      A,
      [
        [1, 2, [read('a', 1), write('a', 10)]],
        [3, 4, [read('a', 10), write('a', 20)]],
      ],
      { a: 10 },
    ),
  ],
  'a stale read': [
    'real-time-violation',
    historyOf(
      A,
      [
        [1, 2, [read('a', 1), write('a', 10)]],
        [3, 4, [read('a', 1)]],
      ],
      { a: 10 },
    ),
  ],
  'a query that still finds what was deleted before': [
    'real-time-violation',
    historyOf(
      A,
      [
        [1, 2, [read('a', 1), write('a')]],
        [3, 4, [queryPrefix('a', A)]],
      ],
      {},
    ),
  ],
};

/** Histories that look odd, and are right. */
const CORRECT: Record<string, History> = {
  'nothing at all': historyOf({}, [], {}),
  'concurrent transactions in the order opposite to their calls': historyOf(
    A,
    [
      [1, 5, [read('a', 20), write('a', 10)]],
      [2, 4, [read('a', 1), write('a', 20)]],
    ],
    { a: 10 },
  ),
  'an unknown transaction without effect': historyOf(
    A,
    [[1, 2, [read('a', 1), write('a', 10)], 'unknown']],
    A,
  ),
  'an unknown transaction that takes effect after its page has died': historyOf(
    A,
    [
      [1, 2, [read('a', 1), write('a', 10)], 'unknown'],
      [3, 4, [read('a', 1)]],
      [5, 6, [read('a', 10)]],
    ],
    { a: 10 },
  ),
  'an unknown delete that only the final state shows': historyOf(
    A,
    [[1, 2, [read('a', 1), write('a')], 'unknown']],
    {},
  ),
  'an unknown transaction that read what never was there': historyOf(
    A,
    [[1, 2, [read('a', 7), write('a', 10)], 'unknown']],
    A,
  ),
  'an aborted transaction that read two states': historyOf(
    AB,
    [
      [1, 4, [read('a', 1), read('b', 20)], 'aborted'],
      [2, 3, [read('a', 1), read('b', 2), write('a', 10), write('b', 20)]],
    ],
    { a: 10, b: 20 },
  ),
  'a key that is inserted, deleted and inserted again': historyOf(
    {},
    [
      [1, 2, [read('a'), write('a', 10)]],
      [3, 4, [read('a', 10), write('a')]],
      [5, 6, [read('a'), write('a', 20), queryPrefix('a', { a: 20 })]],
    ],
    { a: 20 },
  ),
  'equal objects with their fields in another order': historyOf(
    { a: { n: 1, m: 2 } },
    [[1, 2, [read('a', { m: 2, n: 1 })]]],
    { a: { n: 1, m: 2 } },
  ),
};

test.each(Object.entries(ANOMALIES))('%s has no serial order', (_, [, history]) => {
  expect(findSerialOrder(history)).toBeUndefined();
});

test.each(Object.entries(ANOMALIES))('%s is named', (_, [kind, history]) => {
  expect(findCycle(history)).toMatchObject({ kind });
});

test.each(Object.entries(CORRECT))('%s passes both', (_, history) => {
  expect(findSerialOrder(history)).toBeDefined();
  expect(findCycle(history)).toBeUndefined();
});

test('opacity forbids an aborted transaction that read two states', () => {
  const history = CORRECT['an aborted transaction that read two states'] as History;
  const opaque = { ...history, abortedReadSnapshots: true };
  expect(findSerialOrder(opaque)).toBeUndefined();
  expect(findCycle(opaque)).toMatchObject({ kind: 'fractured-read', transactions: ['t1', 't2'] });
});
