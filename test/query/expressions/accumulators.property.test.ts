import { expect, test } from 'vitest';
import { compileAccumulator } from '../../../src/query/expressions/accumulators/compile-accumulator.ts';
import { ExactSum } from '../../../src/query/expressions/accumulators/exact-sum.ts';
import { valueKey } from '../../../src/query/expressions/collated-keys.ts';
import { equalValues } from '../../../src/query/value/compare-values.ts';
import { fc, runs } from '../../setup/properties.ts';

const number = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.1, 0.2, 0.3, 1e16, -1e16, 1e-7, 2 ** 53, 5e-324, 1.7e308, -1.7e308, -0),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const odd = fc.constantFrom<unknown>(
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ...[1n, 2n ** 53n, -(2n ** 70n), 3n],
);
const scalar = fc.oneof(
  number,
  odd,
  fc.constantFrom<unknown>(null, undefined, '', 'a', '\0a', 'b', true, false),
  fc.constantFrom(0, 1, -1, 2 ** 32, -(2 ** 48), 8.64e15, Number.NaN).map((at) => new Date(at)),
  fc.constantFrom<unknown>(/a/, /a/i, new Uint8Array([1])),
);
const value = fc.oneof(
  { arbitrary: scalar, weight: 4 },
  { arbitrary: fc.array(scalar, { maxLength: 2 }), weight: 1 },
  { arbitrary: fc.dictionary(fc.constantFrom('a', 'b'), scalar, { maxKeys: 2 }), weight: 1 },
  { arbitrary: fc.array(scalar, { maxLength: 2 }).map((items) => new Set(items)), weight: 1 },
);

/** In units of the least number, by doubling and halving alone. */
function exactly(given: number | bigint): bigint {
  let [shift, whole] = [0n, given];
  for (; typeof whole === 'number' && !Number.isInteger(whole); whole *= 2) shift++;
  return BigInt(whole) << (1074n - shift);
}

const distance = (a: bigint, b: bigint) => (a < b ? b - a : a - b);

/** The numbers beside one. */
function neighbours(given: number): number[] {
  const double = new Float64Array([Math.abs(given)]);
  const bits = new BigInt64Array(double.buffer);
  const at = (step: bigint) => {
    bits[0] = (bits[0] as bigint) + step;
    return Math.sign(given || 1) * (double[0] as number);
  };
  return given === 0 ? [5e-324, -5e-324] : [at(1n), at(-2n)].filter(Number.isFinite);
}

test('a sum is the nearest number to the exact one, in any order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, fc.nat()), { maxLength: 40 }), (given) => {
      const [sum, shuffled] = [new ExactSum(), new ExactSum()];
      for (const [one] of given) sum.add(one);
      for (const [one] of given.toSorted((a, b) => a[1] - b[1])) shuffled.add(one);
      const result = sum.result() as number;
      expect(shuffled.result()).toBe(result);
      const exact = given.reduce((total, [one]) => total + exactly(one), 0n);
      if (!Number.isFinite(result)) {
        expect(distance(exact, 0n)).toBeGreaterThan(exactly(Number.MAX_VALUE));
        return;
      }
      const error = distance(exact, exactly(result));
      for (const other of neighbours(result))
        expect(error <= distance(exact, exactly(other))).toBe(true);
    }),
    runs(3000),
  );
});

const live: object[] = [
  { $sum: '$v' },
  { $avg: '$v' },
  { $count: {} },
  { $min: '$v' },
  { $max: '$v' },
  { $first: '$v' },
  { $last: '$v' },
  { $push: '$v' },
  { $addToSet: '$v' },
  { $firstN: { n: 3, input: '$v' } },
  { $lastN: { n: 3, input: '$v' } },
  { $minN: { n: 3, input: '$v' } },
  { $maxN: { n: 3, input: '$v' } },
  { $top: { sortBy: { v: -1 }, output: ['$v', '$_id'] } },
  { $bottom: { sortBy: { v: 1 }, output: ['$v', '$_id'] } },
  { $topN: { n: 2, sortBy: { v: 1 }, output: ['$v', '$_id'] } },
  { $bottomN: { n: 2, sortBy: { v: 1 }, output: ['$v', '$_id'] } },
];

test.each(live)('%j of a group that documents leave equals a fresh one', (accumulator) => {
  const { input, make, makeInvertible } = compileAccumulator(accumulator, 'x', { now: 0 });
  const step = fc.record({ rank: fc.nat({ max: 12 }), v: value, leaves: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const state = makeInvertible?.();
      const group = new Map<number, object>();
      for (const { rank, v, leaves } of steps) {
        const known = group.get(rank);
        if (known) state?.remove(input(known), rank);
        group.delete(rank);
        const document = { _id: rank, v };
        if (!leaves) {
          state?.add(input(document), rank);
          group.set(rank, document);
        }
        const fresh = make();
        for (const [at, one] of [...group].sort(([a], [b]) => a - b)) fresh.add(input(one), at);
        expect(state?.result()).toStrictEqual(fresh.result());
      }
    }),
    runs(300),
  );
});

test('values have one key exactly if they are equal', () => {
  const all = [scalar, value, fc.date({ noInvalidDate: false })];
  fc.assert(
    fc.property(fc.oneof(...all), fc.oneof(...all), (a, b) => {
      const isSame = new Set([valueKey(a), valueKey(b)]).size === 1;
      expect(isSame).toBe(equalValues(a, b));
    }),
    runs(5000),
  );
});
