import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError } from '../../errors/errors.ts';
import { compileCriteria } from '../criteria/compile-criteria.ts';
import { isForValues } from '../criteria/item-criteria.ts';
import { getAt, mismatch } from '../path/value-path.ts';
import { orderIn } from '../value/collation.ts';
import { type Compare, compareScalars, isAmong } from '../value/compare-values.ts';
import { isRegExp } from '../value/value-type.ts';
import {
  placedAt,
  replacing,
  UNCHANGED,
  type UpdatedPath,
  type UpdateStep,
} from './update-operator.ts';

type Direction = 1 | -1;

/** Items to add, with the modifiers of `$push`. */
interface Each {
  readonly $each: Items;
  readonly $position?: number;
  readonly $slice?: number;
  readonly $sort?: Direction | Readonly<Record<string, Direction>>;
}

/** An operand is an item, or several as `{ $each: […] }`. */
function eachOf(operand: unknown): Each {
  const isEach = isPlainObject(operand) && Object.hasOwn(operand, '$each');
  return isEach ? (operand as unknown as Each) : { $each: [operand] };
}

export function push(path: UpdatedPath, operand: unknown, collation?: string): UpdateStep {
  const { $each, $position, $slice, $sort } = eachOf(operand);
  const compare = $sort && itemOrder($sort, orderIn(collation));
  return replacingItems(
    path,
    (before) => {
      const at = $position ?? before.length;
      // Not `toSpliced(at, 0, ...$each)`: a call takes some 100,000 arguments.
      let after = [...before.slice(0, at), ...$each, ...before.slice(at)];
      if (compare) after = sorted(after, compare);
      if ($slice === undefined) return after;
      return $slice < 0 ? after.slice($slice) : after.slice(0, $slice);
    },
    [],
  );
}

/** Sorts boxes: `Array.prototype.sort` puts every `undefined` last, whatever the order says. */
function sorted(items: Items, compare: Compare): unknown[] {
  const boxes = items.map((item) => ({ item }));
  return boxes.sort((a, b) => compare(a.item, b.item)).map(({ item }) => item);
}

/** The order of whole items, or of fields inside them. A missing field counts as null. */
function itemOrder(sort: NonNullable<Each['$sort']>, compare: Compare): Compare {
  if (typeof sort === 'number') return (a, b) => sort * compare(a, b);
  const orders = Object.entries(sort).map(([field, direction]): Compare => {
    const segments = field.split('.');
    const keyOf = (item: unknown) =>
      (isPlainObject(item) ? getAt(item, segments) : undefined) ?? null;
    return (a, b) => direction * compare(keyOf(a), keyOf(b));
  });
  return (a, b) => {
    for (const order of orders) {
      const result = order(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

export function addToSet(path: UpdatedPath, operand: unknown, collation?: string): UpdateStep {
  const { $each } = eachOf(operand);
  const compare = orderIn(collation);
  return replacing(path, (before) => {
    const present = before === undefined ? [] : itemsOf(before, path);
    const known = new ValueSet(present, compare);
    const others = $each.filter((item) => !known.has(item));
    const added = distinct(others, compare);
    return before !== undefined && added.length === 0 ? UNCHANGED : [...present, ...added];
  });
}

type ItemTest = (item: unknown) => boolean;

function removing(path: UpdatedPath, isRemoved: ItemTest): UpdateStep {
  return replacingItems(path, (items) => {
    const left = items.filter((item) => !isRemoved(item));
    return left.length < items.length ? left : UNCHANGED;
  });
}

export function pullMatching(path: UpdatedPath, operand: unknown, collation?: string): UpdateStep {
  try {
    return removing(path, pullTest(operand, collation));
  } catch (error) {
    if (!(error instanceof CriteriaError)) throw error;
    const within = (error.place ?? '').replace(/^item(?=\.|$)/, '').replace(/^(?=[^.[])/, '.');
    throw placedAt(error, `changes.$pull.${path.path}${within}`);
  }
}

/**
 * As in MongoDB: operators and patterns match an item as they would a field, other criteria the
 * fields of objects.
 */
function pullTest(operand: unknown, collation: string | undefined): ItemTest {
  if (isRegExp(operand) || (isPlainObject(operand) && isForValues(operand))) {
    const { test } = compileCriteria({ item: operand }, collation);
    return (item) => test({ item });
  }
  const compare = orderIn(collation);
  if (!isPlainObject(operand)) return (item) => compare(operand, item) === 0;
  const { test } = compileCriteria(operand, collation);
  return (item) => isPlainObject(item) && test(item);
}

/**
 * A set of values that are equal as queries compare them: objects by content, a bigint and its
 * number alike, strings in a collation. Objects are sorted: comparing each with all others takes
 * seconds where an array has thousands.
 */
class ValueSet {
  readonly #scalars = new Set<unknown>();
  readonly #others: unknown[] = [];
  readonly #compare: Compare;
  #lookups = 0;

  constructor(values: Iterable<unknown>, compare: Compare) {
    this.#compare = compare;
    for (const value of values) {
      if (hasKey(value, compare)) this.#scalars.add(scalarKey(value));
      else this.#others.push(value);
    }
  }

  has(value: unknown): boolean {
    const compare = this.#compare;
    if (hasKey(value, compare)) return this.#scalars.has(scalarKey(value));
    this.#lookups++;
    // Sorting pays from the second lookup on.
    if (this.#lookups === 1) return this.#others.some((other) => compare(other, value) === 0);
    if (this.#lookups === 2) this.#others.sort(compare);
    return isAmong(this.#others, value, compare);
  }
}

export function pullAll(path: UpdatedPath, operand: Items, collation?: string): UpdateStep {
  const removed = new ValueSet(operand, orderIn(collation));
  return removing(path, (item) => removed.has(item));
}

export function pop(path: UpdatedPath, operand: 1 | -1): UpdateStep {
  return replacingItems(path, (items) => {
    if (items.length === 0) return UNCHANGED;
    return operand === 1 ? items.slice(0, -1) : items.slice(1);
  });
}

type Items = readonly unknown[];

/** @throws {KeyError} `kind_mismatch` unless it is an array. */
function itemsOf(value: unknown, { path }: UpdatedPath): Items {
  if (!Array.isArray(value)) throw mismatch(path, value, 'an array');
  return value;
}

/**
 * A step that replaces an array.
 *
 * @param missing What a missing array counts as; without it nothing happens then.
 */
function replacingItems(
  path: UpdatedPath,
  next: (items: Items) => Items | typeof UNCHANGED,
  missing?: Items,
): UpdateStep {
  return replacing(path, (before = missing) =>
    before === undefined ? UNCHANGED : next(itemsOf(before, path)),
  );
}

/** The values without those that equal an earlier one. */
function distinct(values: readonly unknown[], compare: Compare): unknown[] {
  // Stable: the first of equal values stays first.
  const sorted = [...values.keys()].sort((a, b) => compare(values[a], values[b]));
  const isAgain = (index: number, at: number) =>
    at > 0 && compare(values[sorted[at - 1] as number], values[index]) === 0;
  const again = new Set(sorted.filter(isAgain));
  return values.filter((_, index) => !again.has(index));
}

/** Whether equal values have equal {@link scalarKey}s. A collator has no keys to look up. */
function hasKey(value: unknown, compare: Compare): boolean {
  if (typeof value === 'string') return compare === compareScalars;
  return typeof value !== 'object' || value === null;
}

function scalarKey(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isFinite(number) && BigInt(number) === value ? number : value;
}
