import { isPlainObject } from '../../codec/kinds.ts';
import { compareValues } from '../../query/value/compare-values.ts';
import { getAt } from '../paths/value-path.ts';
import { type Items, itemsOf, replacingItems } from './items.ts';
import { type FieldPath, replacing, UNCHANGED, type UpdateStep } from './update-operator.ts';
import { distinct, ValueSet } from './value-set.ts';

type Compare = (a: unknown, b: unknown) => number;
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

export function push(path: FieldPath, operand: unknown): UpdateStep {
  const { $each, $position, $slice, $sort } = eachOf(operand);
  const compare = $sort && itemOrder($sort);
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
function itemOrder(sort: NonNullable<Each['$sort']>): Compare {
  if (typeof sort === 'number') return (a, b) => sort * compareValues(a, b);
  const orders = Object.entries(sort).map(([field, direction]): Compare => {
    const segments = field.split('.');
    const keyOf = (item: unknown) =>
      (isPlainObject(item) ? getAt(item, segments) : undefined) ?? null;
    return (a, b) => direction * compareValues(keyOf(a), keyOf(b));
  });
  return (a, b) => {
    for (const order of orders) {
      const result = order(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

export function addToSet(path: FieldPath, operand: unknown): UpdateStep {
  const { $each } = eachOf(operand);
  return replacing(path, (before) => {
    const present = before === undefined ? [] : itemsOf(before, path);
    const known = new ValueSet(present);
    const added = distinct($each.filter((item) => !known.has(item)));
    return before !== undefined && added.length === 0 ? UNCHANGED : [...present, ...added];
  });
}
