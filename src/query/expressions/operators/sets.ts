import { valueKey } from '../../value/value-key.ts';
import {
  type ExpressionOperator,
  isNullish,
  isTrue,
  itemsIn,
  ofArguments,
  ofGiven,
  ofList,
} from '../operator.ts';

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
  combine: (one: ValueSet, other: ValueSet) => Iterable<readonly [unknown, unknown]>,
): ExpressionOperator =>
  ofList(0, (given, place) => {
    if (given.some(isNullish)) return null;
    const sets = given.map((value): ValueSet => setOf(value, place));
    const [first = new Map(), ...others] = sets;
    return [...others.reduce((one, other) => new Map(combine(one, other)), first).values()];
  });

/** The values of a set that another one has, or lacks. */
const within = (has: boolean) => (one: ValueSet, other: ValueSet) =>
  [...one].filter(([key]) => other.has(key) === has);

const isSubset = (one: ValueSet, other: ValueSet) => within(false)(one, other).length === 0;

export const sets = {
  $setUnion: ofSets((one, other) => [...one, ...within(false)(other, one)]),
  $setIntersection: ofSets(within(true)),
  $setDifference: ofGiven(2, 2, (place, one, other) =>
    within(false)(setOf(one, place), setOf(other, place)).map(([, value]) => value),
  ),
  $setEquals: ofList(2, (given, place) => {
    const [first, ...others] = given.map((value) => setOf(value, place));
    return others.every((other) => first?.size === other.size && isSubset(other, first));
  }),
  $setIsSubset: ofArguments(2, 2, (place, one, other) =>
    isSubset(setOf(one, place), setOf(other, place)),
  ),
  $allElementsTrue: ofArguments(1, 1, (place, value) => itemsIn(value, place).every(isTrue)),
  $anyElementTrue: ofArguments(1, 1, (place, value) => itemsIn(value, place).some(isTrue)),
} satisfies Record<string, ExpressionOperator>;
