import { compileSort } from '../../sort/compile-sort.ts';
import type { Compare } from '../../value/compare-values.ts';
import { isFields } from '../../value/value-type.ts';
import { Average, ExactSum } from '../accumulators/exact-sum.ts';
import { descending, fewOf } from '../accumulators/ordered.ts';
import { type Accumulator, Deviation, Extreme } from '../accumulators/states.ts';
import { keysIn } from '../collated-keys.ts';
import {
  checkLength,
  compileNamed,
  countSteps,
  type Evaluate,
  type ExpressionOperator,
  indexOf,
  inLoop,
  integerIn,
  isNullish,
  isTrue,
  itemsIn,
  listIn,
  MOST_ITEMS,
  namedOperands,
  ofArguments,
  ofGiven,
  ofList,
  ofSettings,
  type Scope,
  type Variable,
  valuesIn,
  variableName,
  withVariables,
  wrongKind,
} from '../operator.ts';

/** A function of an array; null and missing give null. */
const ofItems = (compute: (items: readonly unknown[]) => unknown): ExpressionOperator =>
  ofGiven(1, 1, (place, value) => compute(itemsIn(value, place)));

/** The result of an accumulator for the items of an array, or for a list of arguments. */
const ofTotal = (make: (scope: Scope) => Accumulator): ExpressionOperator =>
  ofList(1, (values, place, scope) => totalOf(make(scope), valuesIn(values, place)));

/** `$firstN` and its kin, by what accumulates the items. */
const ofFew =
  (orderIn: ((scope: Scope) => Compare) | undefined, atEnd: boolean): ExpressionOperator =>
  (operand, place, scope) => {
    const compare = orderIn?.(scope);
    const names = ['n', 'input'];
    const [n, input] = compileNamed(operand, place, scope, names) as [Evaluate, Evaluate];
    return (document) => {
      const count = integerIn(n(document), `${place}.n`, 1);
      return totalOf(fewOf(compare, atEnd, count), itemsIn(input(document), place));
    };
  };

function totalOf(state: Accumulator, values: readonly unknown[]): unknown {
  for (const value of values) state.add(value);
  return state.result();
}

export const arrays = {
  $isArray: ofArguments(1, 1, (_, value) => Array.isArray(value)),
  $size: ofArguments(1, 1, (place, value) => listIn(value, place).length),
  $arrayElemAt: ofGiven(2, 2, (place, value, index) =>
    listIn(value, place).at(integerIn(index, place)),
  ),
  $first: ofItems((items) => items[0]),
  $last: ofItems((items) => items.at(-1)),
  $reverseArray: ofItems((items) => items.toReversed()),
  $in: ofArguments(2, 2, (place, value, items, _c, _d, { compare }) =>
    itemsIn(items, place).some((item) => compare(item, value) === 0),
  ),
  $concatArrays: ofList(0, (values, place) => {
    if (values.some(isNullish)) return null;
    const arrays = values.map((value) => itemsIn(value, place));
    const length = arrays.reduce((sum, items) => sum + items.length, 0);
    checkLength(length, MOST_ITEMS, place);
    return arrays.flat();
  }),
  $slice: ofArguments(2, 3, (place, value, first, count) => {
    if (isNullish(value) || first === null || count === null) return null;
    const items = itemsIn(value, place);
    const at = integerIn(first, place);
    if (count === undefined) return at < 0 ? items.slice(at) : items.slice(0, at);
    const from = at < 0 ? Math.max(0, items.length + at) : at;
    return items.slice(from, from + integerIn(count, place, 1));
  }),
  $range: ofArguments(2, 3, (place, start, end, step = 1) => {
    const [from, to, by] = [integerIn(start, place), integerIn(end, place), integerIn(step, place)];
    if (by === 0) throw wrongKind(place, 'a step', by);
    const length = Math.max(0, Math.ceil((to - from) / by));
    checkLength(length, MOST_ITEMS, place);
    countSteps(length, place);
    return Array.from({ length }, (_, index) => from + index * by);
  }),
  $indexOfArray: ofArguments(2, 4, (place, value, wanted, start, end, { compare }) =>
    isNullish(value) ? null : indexOf(itemsIn(value, place), [wanted], start, end, place, compare),
  ),
  $sortArray: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'sortBy']);
    const compare = orderOf(given.sortBy, `${place}.sortBy`, scope);
    const input = scope.compile(given.input, `${place}.input`, scope);
    return (document) => {
      const items = input(document);
      return isNullish(items) ? null : itemsIn(items, place).toSorted(compare);
    };
  },
  $zip: ofSettings(
    ['inputs'],
    [],
    ['useLongestLength', 'defaults'],
    ({ useLongestLength: isLongest = false, defaults = [] }, place) => {
      const fill = itemsIn(defaults, `${place}.defaults`);
      return (inputs) => {
        const lists = itemsIn(inputs, place);
        if (lists.some(isNullish)) return null;
        const items = lists.map((list) => itemsIn(list, place));
        if (fill.length > 0 && (isLongest !== true || fill.length !== items.length))
          throw wrongKind(place, 'a default for each input', defaults);
        const [first = [], ...others] = items;
        const longer = isLongest ? Math.max : Math.min;
        const length = others.reduce((most, list) => longer(most, list.length), first.length);
        return Array.from({ length }, (_, at) =>
          items.map((list, number) => (at < list.length ? list[at] : (fill[number] ?? null))),
        );
      };
    },
  ),
  $firstN: ofFew(undefined, false),
  $lastN: ofFew(undefined, true),
  $minN: ofFew(({ compare }) => compare, false),
  $maxN: ofFew(({ compare }) => descending(compare), false),
  $max: ofTotal(({ compare }) => new Extreme(1, compare)),
  $min: ofTotal(({ compare }) => new Extreme(-1, compare)),
  $sum: ofTotal(() => new ExactSum()),
  $avg: ofTotal(() => new Average()),
  $stdDevPop: ofTotal(() => new Deviation(0)),
  $stdDevSamp: ofTotal(() => new Deviation(1)),
  $map: overItems('in', [], (cell, body) => (items, document) => {
    return items.map((item) => {
      cell.value = item;
      return body(document) ?? null;
    });
  }),
  $filter: overItems('cond', ['limit'], (cell, body, place) => (items, document, limit) => {
    const most = isNullish(limit) ? items.length : integerIn(limit, `${place}.limit`, 1);
    const kept: unknown[] = [];
    for (const item of items) {
      if (kept.length >= most) break;
      cell.value = item;
      if (isTrue(body(document))) kept.push(item);
    }
    return kept;
  }),
  $reduce: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'initialValue', 'in']);
    const input = scope.compile(given.input, `${place}.input`, scope);
    const initial = scope.compile(given.initialValue, `${place}.initialValue`, scope);
    const cells = { this: { value: undefined as unknown }, value: { value: undefined as unknown } };
    const body = scope.compile(given.in, `${place}.in`, withVariables(scope, cells));
    return (document) =>
      inLoop(input(document), place, (items) =>
        items.reduce((result, one) => {
          cells.this.value = one;
          cells.value.value = result;
          return body(document);
        }, initial(document)),
      );
  },
} satisfies Record<string, ExpressionOperator>;

/** The order of `sortBy`: of the items themselves, or by their fields. */
function orderOf(sortBy: unknown, place: string, scope: Scope): Compare {
  if (sortBy === 1) return scope.compare;
  if (sortBy === -1) return descending(scope.compare);
  const { keyOf, compare } = compileSort(sortBy, scope.collation, place);
  const keyIn = (item: unknown) => keyOf(isFields(item) ? item : {});
  return (a, b) => compare(keyIn(a), keyIn(b));
}

/** An operator that evaluates an expression for each item of an array. */
function overItems(
  body: string,
  optional: readonly string[],
  make: (
    cell: Variable,
    body: Evaluate,
    place: string,
  ) => (items: readonly unknown[], document: unknown, limit: unknown) => unknown,
): ExpressionOperator {
  return (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', body], ['as', ...optional]);
    const cell: Variable = { value: undefined };
    const name = variableName(given.as ?? 'this', `${place}.as`);
    const input = scope.compile(given.input, `${place}.input`, scope);
    const limit = scope.compile(given.limit, `${place}.limit`, scope);
    const below = withVariables(scope, { [name]: cell });
    const apply = make(cell, scope.compile(given[body], `${place}.${body}`, below), place);
    return (document) =>
      inLoop(input(document), place, (items) => apply(items, document, limit(document)));
  };
}

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
