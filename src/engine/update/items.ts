import { mismatch } from '../paths/value-path.ts';
import { type FieldPath, replacing, UNCHANGED, type UpdateStep } from './update-operator.ts';

export type Items = readonly unknown[];

/** @throws {KeyError} `kind_mismatch` unless it is an array. */
export function itemsOf(value: unknown, { path }: FieldPath): Items {
  if (!Array.isArray(value)) throw mismatch(path, value, 'an array');
  return value;
}

/**
 * A step that replaces an array.
 *
 * @param missing What a missing array counts as; without it nothing happens then.
 */
export function replacingItems(
  path: FieldPath,
  next: (items: Items) => Items | typeof UNCHANGED,
  missing?: Items,
): UpdateStep {
  return replacing(path, (before = missing) =>
    before === undefined ? UNCHANGED : next(itemsOf(before, path)),
  );
}
