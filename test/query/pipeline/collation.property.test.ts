import { expect, test } from 'vitest';
import { compileExpression } from '../../../src/query/expressions/compile-expression.ts';
import { fc, runs } from '../../setup/properties.ts';
import { COLLATIONS, text } from '../oracle/collations.ts';
import { runStages } from './run-stages.ts';
import '../../setup/rare-operators.ts';

const collations = fc.constantFrom(...COLLATIONS);
const texts = fc.array(text, { maxLength: 12 });

type Collator = Intl.Collator;

/** The first of equal texts each. */
function distinctIn(collator: Collator, all: readonly string[]): string[] {
  const firsts: string[] = [];
  for (const one of all)
    if (!firsts.some((first) => collator.compare(first, one) === 0)) firsts.push(one);
  return firsts;
}

const isIn = (collator: Collator, all: readonly string[], one: string) =>
  all.some((other) => collator.compare(other, one) === 0);

const extreme = (collator: Collator, all: readonly string[], sign: 1 | -1) =>
  all.reduce<string | null>(
    (best, one) => (best === null || sign * collator.compare(one, best) > 0 ? one : best),
    null,
  );

/** Stable, as sorts are. */
const sorted = (collator: Collator, all: readonly string[]) => all.toSorted(collator.compare);

test('operators of sets and extremes compare strings by the collation', () => {
  fc.assert(
    fc.property(collations, texts, texts, ([collation, collator], a, b) => {
      const of = (expression: unknown) =>
        compileExpression(expression, 'x', { now: 0, collation }).evaluate({ a, b });
      const [left, right] = [distinctIn(collator, a), distinctIn(collator, b)];
      const [inside, outside] = [
        left.filter((one) => isIn(collator, b, one)),
        left.filter((one) => !isIn(collator, b, one)),
      ];
      expect(of({ $setUnion: ['$a', '$b'] })).toEqual(distinctIn(collator, [...a, ...b]));
      expect(of({ $setIntersection: ['$a', '$b'] })).toEqual(inside);
      expect(of({ $setDifference: ['$a', '$b'] })).toEqual(outside);
      expect(of({ $setIsSubset: ['$a', '$b'] })).toBe(outside.length === 0);
      expect(of({ $setEquals: ['$a', '$b'] })).toBe(
        outside.length === 0 && left.length === right.length,
      );
      expect(of({ $min: '$a' })).toBe(extreme(collator, a, -1));
      expect(of({ $max: '$a' })).toBe(extreme(collator, a, 1));
      expect(of({ $minN: { input: '$a', n: 3 } })).toEqual(sorted(collator, a).slice(0, 3));
    }),
    runs(2000),
  );
});

test('strings within arrays and objects make one value with those that are equal', () => {
  fc.assert(
    fc.property(collations, text, text, ([collation, collator], a, b) => {
      const of = (expression: unknown) =>
        compileExpression(expression, 'x', { now: 0, collation }).evaluate({ a, b });
      const isEqual = collator.compare(a, b) === 0;
      expect(of({ $setEquals: [[['$a']], [['$b']]] })).toBe(isEqual);
      expect(of({ $setEquals: [[{ x: '$a' }], [{ x: '$b' }]] })).toBe(isEqual);
    }),
    runs(500),
  );
});

test('groups, their accumulators and partitions are those of the collation', () => {
  fc.assert(
    fc.property(
      collations,
      fc.array(fc.record({ key: text, v: text }), { maxLength: 14 }),
      ([collation, collator], documents) => {
        const members = (key: string) =>
          documents.filter((one) => collator.compare(one.key, key) === 0).map(({ v }) => v);
        const keys = distinctIn(
          collator,
          documents.map(({ key }) => key),
        );
        const output = { least: { $min: '$v' }, most: { $max: '$v' }, all: { $addToSet: '$v' } };
        expect(runStages(documents, [{ $group: { _id: '$key', ...output } }], collation)).toEqual(
          keys.map((key) => ({
            _id: key,
            least: extreme(collator, members(key), -1),
            most: extreme(collator, members(key), 1),
            all: sorted(collator, distinctIn(collator, members(key))),
          })),
        );
        const window = { partitionBy: '$key', output: { n: { $count: {} } } };
        expect(
          runStages(documents, [{ $setWindowFields: window }], collation).map((one) => ({
            ...one,
          })),
        ).toEqual(
          sorted(collator, keys).flatMap((key) =>
            documents
              .filter((one) => collator.compare(one.key, key) === 0)
              .map((one) => ({ ...one, n: members(key).length })),
          ),
        );
      },
    ),
    runs(1000),
  );
});
