import { valueKey } from '../../value/value-key.ts';
import { type ExpressionOperator, isNullish, isTrue, itemsIn, ofArguments } from '../operator.ts';

/** The values of an array by their keys, each once, in the order of the array. */
function setOf(value: unknown, place: string): Map<unknown, unknown> {
  const values = new Map<unknown, unknown>();
  for (const item of itemsIn(value, place)) {
    const key = valueKey(item);
    if (!values.has(key)) values.set(key, item);
  }
  return values;
}

type ValueSet = ReadonlyMap<unknown, unknown>;

/** Makes an array of sets; null and missing give null. */
const ofSets = (
  least: number,
  most: number,
  combine: (one: ValueSet, other: ValueSet) => Iterable<readonly [unknown, unknown]>,
): ExpressionOperator =>
  ofArguments(least, most, (place) => (...given: unknown[]) => {
    if (given.some(isNullish)) return null;
    const sets = given.map((value): ValueSet => setOf(value, place));
    const [first = new Map(), ...others] = sets;
    return [...others.reduce((one, other) => new Map(combine(one, other)), first).values()];
  });

const isSubset = (one: ValueSet, other: ValueSet) => [...one.keys()].every((key) => other.has(key));

export const sets = {
  $setUnion: ofSets(0, 1000, (one, other) => [
    ...one,
    ...[...other].filter(([key]) => !one.has(key)),
  ]),
  $setIntersection: ofSets(0, 1000, (one, other) => [...one].filter(([key]) => other.has(key))),
  $setDifference: ofSets(2, 2, (one, other) => [...one].filter(([key]) => !other.has(key))),
  $setEquals: ofArguments(2, 1000, (place) => (...given: unknown[]) => {
    const [first, ...others] = given.map((value) => setOf(value, place));
    return others.every((other) => first?.size === other.size && isSubset(other, first));
  }),
  $setIsSubset: ofArguments(
    2,
    2,
    (place) => (one: unknown, other: unknown) => isSubset(setOf(one, place), setOf(other, place)),
  ),
  $allElementsTrue: ofArguments(
    1,
    1,
    (place) => (value: unknown) => itemsIn(value, place).every(isTrue),
  ),
  $anyElementTrue: ofArguments(
    1,
    1,
    (place) => (value: unknown) => itemsIn(value, place).some(isTrue),
  ),
} satisfies Record<string, ExpressionOperator>;
