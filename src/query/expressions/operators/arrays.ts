import { operandInvalid } from '../../query-errors.ts';
import { compileSort } from '../../sort/compile-sort.ts';
import { type Compare, compareValues, equalValues } from '../../value/compare-values.ts';
import { isFields } from '../../value/value-type.ts';
import { ExactSum } from '../accumulators/exact-sum.ts';
import { Deviation } from '../accumulators/states.ts';
import {
  checkLength,
  type Evaluate,
  type ExpressionOperator,
  indexIn,
  isNullish,
  isTrue,
  itemsIn,
  namedOperands,
  ofArguments,
  ofNamed,
  type Scope,
  wrongKind,
} from '../operator.ts';

const MANY = 1000;
/** An array of more is a mistake that would exhaust the memory. */
const MOST_ITEMS = 1_000_000;

/** A function of an array; null and missing give null. */
const ofItems = (compute: (items: readonly unknown[]) => unknown): ExpressionOperator =>
  ofArguments(
    1,
    1,
    (place) => (value: unknown) => (isNullish(value) ? null : compute(itemsIn(value, place))),
  );

/** Of one array its items, of a list of arguments these. */
const ofValues = (compute: (values: readonly unknown[]) => unknown): ExpressionOperator =>
  ofArguments(1, MANY, () => (...values: unknown[]) => {
    const [only] = values;
    return compute(values.length === 1 && Array.isArray(only) ? only : values);
  });

/** `$firstN` and its kin. */
function ofFew(compute: (items: readonly unknown[], count: number) => unknown): ExpressionOperator {
  return ofNamed(['n', 'input'], [], (place) => ({ n, input }) => {
    if (!Number.isSafeInteger(n) || (n as number) < 1)
      throw wrongKind(`${place}.n`, 'a whole number from 1', n);
    return compute(itemsIn(input, `${place}.input`), n as number);
  });
}

const extreme = (sign: 1 | -1): ExpressionOperator =>
  ofValues((values) => {
    let found: unknown = null;
    for (const value of values) {
      if (isNullish(value)) continue;
      if (found === null || sign * compareValues(value, found) > 0) found = value;
    }
    return found;
  });

export const arrays = {
  $isArray: ofArguments(1, 1, () => (value: unknown) => Array.isArray(value)),
  $size: ofArguments(1, 1, (place) => (value: unknown) => itemsIn(value, place).length),
  $arrayElemAt: ofArguments(2, 2, (place) => (value: unknown, index: unknown) => {
    if (isNullish(value) || isNullish(index)) return null;
    if (!Number.isSafeInteger(index)) throw wrongKind(place, 'a whole number', index);
    return itemsIn(value, place).at(index as number);
  }),
  $first: ofItems((items) => items[0]),
  $last: ofItems((items) => items.at(-1)),
  $reverseArray: ofItems((items) => items.toReversed()),
  $in: ofArguments(
    2,
    2,
    (place) => (value: unknown, items: unknown) =>
      itemsIn(items, place).some((item) => equalValues(item, value)),
  ),
  $concatArrays: ofArguments(0, MANY, (place) => (...values: unknown[]) => {
    if (values.some(isNullish)) return null;
    const arrays = values.map((value) => itemsIn(value, place));
    const length = arrays.reduce((sum, items) => sum + items.length, 0);
    checkLength(length, MOST_ITEMS, place);
    return arrays.flat();
  }),
  $slice: ofArguments(2, 3, (place) => (value: unknown, first: unknown, count: unknown) => {
    if (isNullish(value) || first === null || count === null) return null;
    const items = itemsIn(value, place);
    for (const one of [first, count])
      if (one !== undefined && !Number.isSafeInteger(one))
        throw wrongKind(place, 'a whole number', one);
    const at = first as number;
    if (count === undefined) return at < 0 ? items.slice(at) : items.slice(0, at);
    if ((count as number) <= 0) throw wrongKind(place, 'a count above 0', count);
    const from = at < 0 ? Math.max(0, items.length + at) : at;
    return items.slice(from, from + (count as number));
  }),
  $range: ofArguments(2, 3, (place) => (start: unknown, end: unknown, step: unknown = 1) => {
    if (![start, end, step].every(Number.isSafeInteger) || step === 0)
      throw wrongKind(place, 'whole numbers, and a step other than 0', step === 0 ? step : start);
    const [from, by] = [start as number, step as number];
    const length = Math.max(0, Math.ceil(((end as number) - from) / by));
    checkLength(length, MOST_ITEMS, place);
    return Array.from({ length }, (_, index) => from + index * by);
  }),
  $indexOfArray: ofArguments(
    2,
    4,
    (place) => (value: unknown, wanted: unknown, start: unknown, end: unknown) => {
      if (isNullish(value)) return null;
      const items = itemsIn(value, place);
      const from = start === undefined ? 0 : indexIn(start, place);
      const to = end === undefined ? items.length : Math.min(indexIn(end, place), items.length);
      for (let at = from; at < to; at++) if (equalValues(items[at], wanted)) return at;
      return -1;
    },
  ),
  $sortArray: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'sortBy']);
    const compare = orderOf(given.sortBy, `${place}.sortBy`);
    const input = scope.compile(given.input, `${place}.input`, scope);
    return (document) => {
      const items = input(document);
      return isNullish(items) ? null : itemsIn(items, place).toSorted(compare);
    };
  },
  $zip: ofNamed(['inputs'], ['useLongestLength', 'defaults'], (place) => (given) => {
    const { inputs, useLongestLength: isLongest = false, defaults = [] } = given;
    const lists = itemsIn(inputs, `${place}.inputs`);
    if (lists.some(isNullish)) return null;
    const items = lists.map((list) => itemsIn(list, `${place}.inputs`));
    const fill = isNullish(defaults) ? [] : itemsIn(defaults, `${place}.defaults`);
    if (fill.length > 0 && (isLongest !== true || fill.length !== items.length))
      throw wrongKind(place, 'a default for each input, with useLongestLength', defaults);
    const lengths = items.map((list) => list.length);
    const length = lengths.length === 0 ? 0 : Math[isLongest ? 'max' : 'min'](...lengths);
    return Array.from({ length }, (_, at) =>
      items.map((list, number) => (at < list.length ? list[at] : (fill[number] ?? null))),
    );
  }),
  $firstN: ofFew((items, count) => items.slice(0, count)),
  $lastN: ofFew((items, count) => items.slice(-count)),
  $minN: ofFew((items, count) => ranked(items, 1).slice(0, count)),
  $maxN: ofFew((items, count) => ranked(items, -1).slice(0, count)),
  $max: extreme(1),
  $min: extreme(-1),
  $sum: ofValues((values) => sumOf(values).result()),
  $avg: ofValues((values) => {
    const sum = sumOf(values);
    return sum.count === 0 ? null : Number(sum.result()) / sum.count;
  }),
  $stdDevPop: ofValues((values) => deviationOf(values, 0)),
  $stdDevSamp: ofValues((values) => deviationOf(values, 1)),
  $map: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'in'], ['as']);
    const { input, cell, body } = overItems(given, 'in', place, scope);
    return (document) => {
      const items = input(document);
      if (isNullish(items)) return null;
      return itemsIn(items, place).map((item) => {
        cell.value = item;
        return body(document) ?? null;
      });
    };
  },
  $filter: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'cond'], ['as', 'limit']);
    const { input, cell, body } = overItems(given, 'cond', place, scope);
    const limit = scope.compile(given.limit ?? null, `${place}.limit`, scope);
    return (document) => {
      const items = input(document);
      if (isNullish(items)) return null;
      const most = limit(document) ?? Number.POSITIVE_INFINITY;
      if (!((most as number) >= 1)) throw wrongKind(`${place}.limit`, 'a number from 1', most);
      const kept: unknown[] = [];
      for (const item of itemsIn(items, place)) {
        if (kept.length >= (most as number)) break;
        cell.value = item;
        if (isTrue(body(document))) kept.push(item);
      }
      return kept;
    };
  },
  $reduce: (operand, place, scope) => {
    const given = namedOperands(operand, place, ['input', 'initialValue', 'in']);
    const input = scope.compile(given.input, `${place}.input`, scope);
    const initial = scope.compile(given.initialValue, `${place}.initialValue`, scope);
    const [item, value]: { value: unknown }[] = [{ value: undefined }, { value: undefined }];
    const variables = new Map([...scope.variables, ['this', item], ['value', value]] as [
      string,
      { value: unknown },
    ][]);
    const body = scope.compile(given.in, `${place}.in`, { ...scope, variables });
    return (document) => {
      const items = input(document);
      if (isNullish(items)) return null;
      let result = initial(document);
      for (const one of itemsIn(items, place)) {
        (item as { value: unknown }).value = one;
        (value as { value: unknown }).value = result;
        result = body(document);
      }
      return result;
    };
  },
} satisfies Record<string, ExpressionOperator>;

/** The items that are there, in order. */
function ranked(items: readonly unknown[], sign: 1 | -1): unknown[] {
  return items.filter((item) => !isNullish(item)).sort((a, b) => sign * compareValues(a, b));
}

/** The order of `sortBy`: of the items themselves, or by their fields. */
function orderOf(sortBy: unknown, place: string): Compare {
  if (sortBy === 1) return compareValues;
  if (sortBy === -1) return (a, b) => compareValues(b, a);
  const { keyOf, compare } = compileSort(sortBy, undefined, place);
  const keyIn = (item: unknown) => keyOf(isFields(item) ? item : {});
  return (a, b) => compare(keyIn(a), keyIn(b));
}

function deviationOf(values: readonly unknown[], spare: 0 | 1): number | null {
  const deviation = new Deviation(spare);
  for (const value of values) deviation.add(value);
  return deviation.result();
}

function sumOf(values: readonly unknown[]): ExactSum {
  const sum = new ExactSum();
  for (const value of values) sum.add(value);
  return sum;
}

/** The parts of an operator that evaluates an expression for each item of an array. */
function overItems(
  { input, as = 'this', ...rest }: Record<string, unknown>,
  name: string,
  place: string,
  scope: Scope,
): { input: Evaluate; cell: { value: unknown }; body: Evaluate } {
  if (typeof as !== 'string' || !/^[a-z]\w*$/.test(as))
    throw operandInvalid(`${place}.as`, 'a name that begins with a small letter', as);
  const cell = { value: undefined as unknown };
  const variables = new Map([...scope.variables, [as, cell]] as [string, { value: unknown }][]);
  return {
    input: scope.compile(input, `${place}.input`, scope),
    cell,
    body: scope.compile(rest[name], `${place}.${name}`, { ...scope, variables }),
  };
}
