import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError } from '../../errors/criteria-error.ts';
import { compileCriteria } from '../../query/criteria/compile-criteria.ts';
import { isForValues } from '../../query/operators/array.ts';
import { equalValues } from '../../query/value/compare-values.ts';
import { isRegExp } from '../../query/value/value-type.ts';
import { replacingItems } from './items.ts';
import { updateInvalid } from './update-errors.ts';
import { UNCHANGED, type UpdateOperator, type UpdateStep } from './update-operator.ts';
import type { UpdatePath } from './update-path.ts';
import { ValueSet } from './value-set.ts';

type ItemTest = (item: unknown) => boolean;

function removing(path: UpdatePath, isRemoved: ItemTest): UpdateStep {
  return replacingItems(path, (items) => {
    const left = items.filter((item) => !isRemoved(item));
    return left.length < items.length ? left : UNCHANGED;
  });
}

export const pull: UpdateOperator = (path, operand, place) => {
  try {
    return removing(path, pullTest(operand));
  } catch (error) {
    throw error instanceof CriteriaError ? placedIn(error, place) : error;
  }
};

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

export const pullAll: UpdateOperator = (path, operand, place) => {
  if (!Array.isArray(operand)) throw updateInvalid(place, 'must be an array of items');
  const removed = new ValueSet(operand);
  return removing(path, (item) => removed.has(item));
};

export const pop: UpdateOperator = (path, operand, place) => {
  if (operand !== 1 && operand !== -1)
    throw updateInvalid(place, 'must be 1, the last item, or -1, the first');
  return replacingItems(path, (items) => {
    if (items.length === 0) return UNCHANGED;
    return operand === 1 ? items.slice(0, -1) : items.slice(1);
  });
};
