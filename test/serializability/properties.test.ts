import { expect, test } from 'vitest';
import { fc, runs } from '../setup/properties.ts';
import { findCycle } from './find-cycle.ts';
import { findSerialOrder } from './find-serial-order.ts';
import { formatHistory } from './format-history.ts';
import { type Isolation, interpret } from './interpreter.ts';

const RIGHT: readonly Isolation[] = ['serial', 'optimistic'];
const WRONG: readonly Isolation[] = [
  'snapshot',
  'snapshot-first-committer',
  'points-validated',
  'read-committed',
  'read-uncommitted',
  'half-commits',
  'applied-twice',
  'stale',
];
const SEEDS = 300;

const workload = (most: number) =>
  fc.record({
    seed: fc.integer(),
    transactions: fc.integer({ min: 1, max: most }),
    isTraceable: fc.boolean(),
  });

test.each(RIGHT)('a short history of transactions that run %s passes both', (isolation) => {
  fc.assert(
    fc.property(workload(12), (work) => {
      const history = interpret(isolation, work);
      expect([findCycle(history), formatHistory(history)]).toEqual([undefined, expect.anything()]);
      expect([findSerialOrder(history), formatHistory(history)]).not.toContain(undefined);
    }),
    runs(500),
  );
});

test.each(RIGHT)('a long history of transactions that run %s has no cycle', (isolation) => {
  fc.assert(
    fc.property(workload(150), (work) => {
      expect(findCycle(interpret(isolation, work))).toBeUndefined();
    }),
    runs(60),
  );
});

test.each(WRONG)('transactions that run %s are found out, by both nearly as often', (isolation) => {
  const found = { cycles: 0, disorders: 0 };
  for (let seed = 1; seed <= SEEDS; seed++) {
    const history = interpret(isolation, { seed, transactions: 9, isTraceable: true });
    if (findCycle(history)) found.cycles++;
    if (!findSerialOrder(history)) found.disorders++;
  }
  expect(found.disorders).toBeGreaterThan(0);
  // The search alone tells apart what is missing because of one delete or another.
  expect(found.cycles).toBeGreaterThan(0.9 * found.disorders);
  expect(found.cycles).toBeLessThanOrEqual(found.disorders);
});

test('where there is a cycle, there is no serial order', () => {
  fc.assert(
    fc.property(fc.constantFrom(...RIGHT, ...WRONG), workload(9), (isolation, work) => {
      const history = interpret(isolation, work);
      if (findCycle(history)) expect(findSerialOrder(history)).toBeUndefined();
    }),
    runs(1500),
  );
});
