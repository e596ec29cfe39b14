import { isPlainObject } from '../../codec/kinds.ts';
import { sameValue } from '../../codec/same-value.ts';
import { compareValues } from '../value/compare-values.ts';
import { type Operation, overlap } from './late-update.ts';

/** Operations of one document; what has more is merged by values. */
export const MOST_OPERATIONS = 100;

const OPERATORS = /^\$(inc|mul|min|max|addToSet|pull|push)$/;

/** Criteria of `$pull` that cost a server little: no patterns, no expressions. */
const COMPARISONS = /^\$(eq|ne|gte?|lte?|n?in|and|n?or|not|exists|elemMatch|all|size)$/;

/** Whether a part of an update can be applied to other states than the one that it was made for. */
export function isOperation([operator, path, operand]: Operation): boolean {
  if (!OPERATORS.test(operator) || /(^|\.)\$/.test(path)) return false;
  if (operator === '$push') return !(isPlainObject(operand) && '$position' in operand);
  return operator !== '$pull' || isCheap(operand);
}

function isCheap(operand: unknown): boolean {
  if (typeof operand !== 'object' || operand === null || operand instanceof Date) return true;
  if (Array.isArray(operand)) return operand.every(isCheap);
  return (
    isPlainObject(operand) &&
    Object.entries(operand).every(
      ([key, value]) => (key[0] !== '$' || COMPARISONS.test(key)) && isCheap(value),
    )
  );
}

/** The operations with another one behind them, joined with an earlier one where they can be. */
export function folded(operations: readonly Operation[], added: Operation): readonly Operation[] {
  const at = operations.findLastIndex(([, path]) => overlap(path, added[1]));
  const last = operations[at];
  const both = last && last[0] === added[0] && last[1] === added[1] && combined(last, added);
  return both ? operations.with(at, both) : [...operations, added];
}

/** One operation that does what two do; `undefined` where there is none. */
function combined([operator, path, a]: Operation, [, , b]: Operation): Operation | undefined {
  const operand = operandOfBoth(operator, a as number, b as number);
  return operand === undefined ? undefined : [operator, path, operand];
}

function operandOfBoth(operator: string, a: number, b: number): unknown {
  switch (operator) {
    case '$inc':
    case '$mul': {
      if (typeof a !== typeof b) return undefined;
      const both = operator === '$inc' ? a + b : a * b;
      return typeof both === 'bigint' || Number.isFinite(both) ? both : undefined;
    }
    case '$min':
      return compareValues(b, a) < 0 ? b : a;
    case '$max':
      return compareValues(b, a) > 0 ? b : a;
    case '$pull':
      return sameValue(a, b) ? a : undefined;
    default: {
      const [items, others] = [itemsOf(a), itemsOf(b)];
      return items && others && { $each: [...items, ...others] };
    }
  }
}

/** The items that `$push` or `$addToSet` add; `undefined` where modifiers say more. */
function itemsOf(operand: unknown): readonly unknown[] | undefined {
  if (!isPlainObject(operand) || !('$each' in operand)) return [operand];
  return Object.keys(operand).length === 1 ? (operand.$each as unknown[]) : undefined;
}
