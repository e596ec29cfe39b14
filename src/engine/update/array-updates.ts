import { isPlainObject } from '../../codec/kinds.ts';
import { compareValues } from '../../query/value/compare-values.ts';
import { getAt } from '../paths/value-path.ts';
import { type Items, itemsOf, replacingItems } from './items.ts';
import { updateInvalid } from './update-errors.ts';
import { replacing, UNCHANGED, type UpdateOperator } from './update-operator.ts';
import { ValueSet } from './value-set.ts';

type Compare = (a: unknown, b: unknown) => number;

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
  if (!keys.includes('$each')) throw updateInvalid(place, 'needs $each for its modifiers');
  if (!Array.isArray($each)) throw updateInvalid(`${place}.$each`, 'must be an array of items');
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
      const at = position ?? before.length;
      // Not `toSpliced(at, 0, ...items)`: a call takes some 100,000 arguments.
      let after = [...before.slice(0, at), ...items, ...before.slice(at)];
      if (compare) after = sorted(after, compare);
      if (length === undefined) return after;
      return length < 0 ? after.slice(length) : after.slice(0, length);
    },
    [],
  );
};

/** Sorts boxes: `Array.prototype.sort` puts every `undefined` last, whatever the order says. */
function sorted(items: Items, compare: Compare): unknown[] {
  const boxes = items.map((item) => ({ item }));
  return boxes.sort((a, b) => compare(a.item, b.item)).map(({ item }) => item);
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
    const segments = field.split('.');
    if (segments.includes('') || segments.includes('__proto__'))
      throw updateInvalid(at, 'is no path, such as "price" or "size.width"');
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

function isDirection(value: unknown): value is 1 | -1 {
  return value === 1 || value === -1;
}

export const addToSet: UpdateOperator = (path, operand, place) => {
  const { items } = parseEach(operand, place, []);
  return replacing(path, (before) => {
    const present = before === undefined ? [] : itemsOf(before, path);
    const known = new ValueSet(present);
    const added = items.filter((item) => known.add(item));
    return before !== undefined && added.length === 0 ? UNCHANGED : [...present, ...added];
  });
};
