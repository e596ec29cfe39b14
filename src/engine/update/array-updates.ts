import { isPlainObject } from '../../codec/kinds.ts';
import { compileItemCriteria } from '../../query/criteria/compile-criteria.ts';
import { checkPath } from '../../query/path/check-path.ts';
import { compareValues, equalValues } from '../../query/value/compare-values.ts';
import { getAt, mismatch } from '../paths/value-path.ts';
import { updateInvalid } from './update-errors.ts';
import { replacing, UNCHANGED, type UpdateOperator, type UpdateStep } from './update-operator.ts';
import type { UpdatePath } from './update-path.ts';

type Items = readonly unknown[];
type Compare = (a: unknown, b: unknown) => number;

/** A step that replaces an array by another. @param missing What a missing one counts as; without it nothing happens. */
function replacingItems(
  path: UpdatePath,
  next: (items: Items) => Items | typeof UNCHANGED,
  missing?: Items,
): UpdateStep {
  return replacing(path, (before = missing) => {
    if (before === undefined) return UNCHANGED;
    if (!Array.isArray(before)) throw mismatch(path.path, before, 'an array');
    return next(before);
  });
}

/** A step that removes items. */
function removing(path: UpdatePath, isRemoved: (item: unknown) => boolean): UpdateStep {
  return replacingItems(path, (items) => {
    const left = items.filter((item) => !isRemoved(item));
    return left.length < items.length ? left : UNCHANGED;
  });
}

/** The operand of an operator that takes an item, or several as `{ $each: […] }`, and modifiers beside it. */
interface Each {
  readonly items: Items;
  readonly modifiers: Readonly<Record<string, unknown>>;
}

function parseEach(operand: unknown, place: string, allowed: readonly string[]): Each {
  const keys = isPlainObject(operand) ? Object.keys(operand) : [];
  const isModified = keys.some((key) => key === '$each' || allowed.includes(key));
  if (!isPlainObject(operand) || !isModified) return { items: [operand], modifiers: {} };
  const { $each, ...modifiers } = operand;
  if (!Array.isArray($each))
    throw updateInvalid(place, 'needs $each, an array of items, for its modifiers');
  const unknown = Object.keys(modifiers).find((key) => !allowed.includes(key));
  if (unknown !== undefined) {
    const known = ['$each', ...allowed].join(', ');
    throw updateInvalid(`${place}.${unknown}`, `is unknown here; allowed are ${known}`);
  }
  return { items: $each, modifiers };
}

export const push: UpdateOperator = (path, operand, place) => {
  const { items, modifiers } = parseEach(operand, place, ['$position', '$slice', '$sort']);
  const whole = (name: string): number | undefined => {
    const value = modifiers[name];
    if (value === undefined || Number.isSafeInteger(value)) return value as number | undefined;
    throw updateInvalid(`${place}.${name}`, 'must be a whole number');
  };
  const position = whole('$position');
  const length = whole('$slice');
  const compare = itemOrder(modifiers.$sort, `${place}.$sort`);
  return replacingItems(
    path,
    (before) => {
      // Beyond an end, `toSpliced` inserts at that end.
      let after = before.toSpliced(position ?? before.length, 0, ...items);
      if (compare) after.sort(compare);
      if (length !== undefined) after = slice(after, length);
      return after;
    },
    [],
  );
};

function slice(items: Items, length: number): unknown[] {
  return length < 0 ? items.slice(length) : items.slice(0, length);
}

/** The order that `$sort` gives to items: of whole items, or of fields inside them. A missing field counts as null. */
function itemOrder(sort: unknown, place: string): Compare | undefined {
  if (sort === undefined) return undefined;
  if (isDirection(sort)) return (a, b) => sort * compareValues(a, b);
  const fields = isPlainObject(sort) ? Object.entries(sort) : [];
  if (fields.length === 0)
    throw updateInvalid(place, 'must be 1, -1, or paths in the items such as { price: 1 }');
  const orders = fields.map(([field, direction]): Compare => {
    const at = `${place}.${field}`;
    if (!isDirection(direction)) throw updateInvalid(at, 'must be 1 or -1');
    const segments = checkPath(field, 'sort_invalid', at);
    const keyOf = (item: unknown) => getAt(item, segments) ?? null;
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

function isDirection(value: unknown): value is 1 | -1 {
  return value === 1 || value === -1;
}

export const addToSet: UpdateOperator = (path, operand, place) => {
  const { items } = parseEach(operand, place, []);
  return replacing(path, (before) => {
    if (before !== undefined && !Array.isArray(before))
      throw mismatch(path.path, before, 'an array');
    const after: unknown[] = [...(before ?? [])];
    for (const item of items)
      if (!after.some((known) => equalValues(known, item))) after.push(item);
    return before?.length === after.length ? UNCHANGED : after;
  });
};

export const pull: UpdateOperator = (path, operand) => removing(path, compileItemCriteria(operand));

export const pullAll: UpdateOperator = (path, operand, place) => {
  if (!Array.isArray(operand)) throw updateInvalid(place, 'must be an array of items');
  return removing(path, (item) => operand.some((one) => equalValues(one, item)));
};

export const pop: UpdateOperator = (path, operand, place) => {
  if (!isDirection(operand))
    throw updateInvalid(place, 'must be 1, the last item, or -1, the first');
  return replacingItems(path, (items) => {
    if (items.length === 0) return UNCHANGED;
    return operand === 1 ? items.slice(0, -1) : items.slice(1);
  });
};
