import { keysIn } from '../collated-keys.ts';
import {
  type ExpressionOperator,
  isNullish,
  isTrue,
  itemsIn,
  ofArguments,
  ofGiven,
  ofList,
} from '../operator.ts';

type ValueSet = ReadonlyMap<unknown, unknown>;

/** Of each array its values by their keys, each once, in the order of the array. */
function setsOf(
  arrays: readonly unknown[],
  place: string,
  collation: string | undefined,
): [ValueSet, ValueSet, ...ValueSet[]] {
  const keyOf = keysIn(collation);
  const sets = arrays.map((array): ValueSet => {
    const values = new Map<unknown, unknown>();
    for (const item of itemsIn(array, place)) {
      const key = keyOf(item);
      if (!values.has(key)) values.set(key, item);
    }
    return values;
  });
  return sets as [ValueSet, ValueSet];
}

/** Makes an array of sets; null and missing give null. */
const ofSets = (
  combine: (one: ValueSet, other: ValueSet) => Iterable<readonly [unknown, unknown]>,
): ExpressionOperator =>
  ofList(0, (given, place, { collation }) => {
    if (given.some(isNullish)) return null;
    const [first = new Map(), ...others]: ValueSet[] = setsOf(given, place, collation);
    return [...others.reduce((one, other) => new Map(combine(one, other)), first).values()];
  });

/** The values of a set that another one has, or lacks. */
const within = (has: boolean) => (one: ValueSet, other: ValueSet) =>
  [...one].filter(([key]) => other.has(key) === has);

const isSubset = (one: ValueSet, other: ValueSet) => within(false)(one, other).length === 0;

export const sets = {
  $setUnion: ofSets((one, other) => [...one, ...within(false)(other, one)]),
  $setIntersection: ofSets(within(true)),
  $setDifference: ofGiven(2, 2, (place, one, other, _c, _d, { collation }) => {
    const [from, taken] = setsOf([one, other], place, collation);
    return within(false)(from, taken).map(([, value]) => value);
  }),
  $setEquals: ofList(2, (given, place, { collation }) => {
    const [first, ...others] = setsOf(given, place, collation);
    return others.every((other) => first.size === other.size && isSubset(other, first));
  }),
  $setIsSubset: ofArguments(2, 2, (place, one, other, _c, _d, { collation }) => {
    const [inner, outer] = setsOf([one, other], place, collation);
    return isSubset(inner, outer);
  }),
  $allElementsTrue: ofArguments(1, 1, (place, value) => itemsIn(value, place).every(isTrue)),
  $anyElementTrue: ofArguments(1, 1, (place, value) => itemsIn(value, place).some(isTrue)),
} satisfies Record<string, ExpressionOperator>;
