import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError } from '../../errors/criteria-error.ts';
import { compileCriteria } from '../../query/criteria/compile-criteria.ts';
import { isForValues } from '../../query/operators/array.ts';
import { equalValues } from '../../query/value/compare-values.ts';
import { isRegExp } from '../../query/value/value-type.ts';
import { type Items, replacingItems } from './items.ts';
import { type FieldPath, UNCHANGED, type UpdateStep } from './update-operator.ts';
import { ValueSet } from './value-set.ts';

type ItemTest = (item: unknown) => boolean;

function removing(path: FieldPath, isRemoved: ItemTest): UpdateStep {
  return replacingItems(path, (items) => {
    const left = items.filter((item) => !isRemoved(item));
    return left.length < items.length ? left : UNCHANGED;
  });
}

export function pull(path: FieldPath, operand: unknown): UpdateStep {
  try {
    return removing(path, pullTest(operand));
  } catch (error) {
    throw error instanceof CriteriaError ? placedIn(error, `changes.$pull.${path.path}`) : error;
  }
}

/** As in MongoDB: operators and patterns match an item as they would a field, other criteria the fields of objects. */
function pullTest(operand: unknown): ItemTest {
  if (isRegExp(operand) || (isPlainObject(operand) && isForValues(operand))) {
    const { test } = compileCriteria({ item: operand });
    return (item) => test({ item });
  }
  if (!isPlainObject(operand)) return (item) => equalValues(operand, item);
  const { test } = compileCriteria(operand);
  return (item) => isPlainObject(item) && test(item);
}

/** The error of criteria, with its place in the changes. */
function placedIn(
  { code, message, place: inner = '' }: CriteriaError,
  place: string,
): CriteriaError {
  const within = inner.replace(/^item(?=\.|$)/, '').replace(/^(?=[^.[])/, '.');
  const whole = place + within;
  return new CriteriaError(code, message.replace(`'${inner}'`, `'${whole}'`), { place: whole });
}

export function pullAll(path: FieldPath, operand: Items): UpdateStep {
  const removed = new ValueSet(operand);
  return removing(path, (item) => removed.has(item));
}

export function pop(path: FieldPath, operand: 1 | -1): UpdateStep {
  return replacingItems(path, (items) => {
    if (items.length === 0) return UNCHANGED;
    return operand === 1 ? items.slice(0, -1) : items.slice(1);
  });
}
