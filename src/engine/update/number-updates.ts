import { compareValues } from '../../query/value/compare-values.ts';
import { mismatch } from '../paths/value-path.ts';
import { type FieldPath, replacing, UNCHANGED, type UpdateStep } from './update-operator.ts';

/** JavaScript computes numbers and bigints alike; TypeScript wants one of them. */
type Numeric = number;

/** A number and a bigint never mix: the sum would be exact or not depending on the document. */
function arithmetic(
  missing: (operand: Numeric) => unknown,
  combine: (before: Numeric, operand: Numeric) => Numeric,
) {
  return (path: FieldPath, operand: Numeric): UpdateStep =>
    replacing(path, (before) => {
      if (before === undefined) return missing(operand);
      if (typeof before !== typeof operand)
        throw mismatch(path.path, before, `a ${typeof operand}`);
      return combine(before as Numeric, operand);
    });
}

export const increment = arithmetic(
  (operand) => operand,
  (before, operand) => before + operand,
);

export const multiply = arithmetic(
  (operand) => (typeof operand === 'bigint' ? 0n : 0),
  (before, operand) => before * operand,
);

function bound(sign: 1 | -1) {
  return (path: FieldPath, operand: unknown): UpdateStep =>
    replacing(path, (before) =>
      before === undefined || sign * compareValues(operand, before) > 0 ? operand : UNCHANGED,
    );
}

export const least = bound(-1);
export const greatest = bound(1);
