import { copy } from '../../codec/capture.ts';
import { sameValue } from '../../codec/same-value.ts';
import { getAt, setAt } from '../path/value-path.ts';
import { type Operation, overlap, type Rebased } from './late-update.ts';
import type { ApplyUpdate } from './update-operator.ts';

type Compile = (changes: object) => ApplyUpdate;

/**
 * Applies operations to decoded fields in place, those that fail aside.
 *
 * @returns those that fail: the field is of another kind, or becomes a number that is none.
 */
export function applyOperations(
  fields: object,
  operations: readonly Operation[],
  compile: Compile,
): Operation[] {
  return operations.filter(([operator, path, operand]) => {
    const segments = path.split('.');
    // The item at a position is another one where others have changed the array.
    if (segments.some((_, at) => Array.isArray(at && getAt(fields, segments.slice(0, at)))))
      return true;
    try {
      compile({ [operator]: { [path]: copy(operand) } })(fields, 0);
    } catch {
      // Told as a conflict of values, which names both.
      return true;
    }
    const value = getAt(fields, segments);
    return typeof value === 'number' && !Number.isFinite(value);
  });
}

/**
 * Applies operations to what others have made of a document, those that still say how it became
 * what it is: of a field that was set since, or that is of another kind there, the value counts.
 *
 * @param from What they were applied to first.
 * @param to What the document became.
 * @param decode Makes decoded copies of a state, which are changed.
 */
export function rebase(
  operations: readonly Operation[],
  [from, to, onto]: readonly [from: () => object, to: object, onto: () => object],
  compile: Compile,
): Rebased<object> {
  for (let left = operations; ; ) {
    const [base, remote] = [from(), onto()];
    const failed = [
      ...applyOperations(base, left, compile),
      ...applyOperations(remote, left, compile),
    ];
    for (const operation of left) {
      const segments = operation[1].split('.');
      if (!isResult(operation, getAt(to, segments), getAt(base, segments))) failed.push(operation);
    }
    if (failed.length === 0) {
      // Sums of one order may differ from those of another in the last digit.
      for (const [, path] of left) {
        const segments = path.split('.');
        const value = getAt(to, segments);
        if (value !== undefined) setAt(base, segments, value, path);
      }
      return { operations: left, base, remote };
    }
    left = left.filter(([, path]) => !failed.some(([, other]) => overlap(path, other)));
  }
}

/** Whether an operation explains what its field is. */
function isResult([operator]: Operation, found: unknown, expected: unknown): boolean {
  if (sameValue(found, expected)) return true;
  const [a, b] = [found as number, expected as number];
  // Fractions that were added or multiplied in another order; all else is exact.
  const isSum = operator === '$inc' || operator === '$mul';
  if (!isSum || typeof a !== 'number' || typeof b !== 'number') return false;
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return false;
  return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
}
