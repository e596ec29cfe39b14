import { compareValues } from '../../query/value/compare-values.ts';
import { mismatch } from '../paths/value-path.ts';
import { updateInvalid } from './update-errors.ts';
import { replacing, UNCHANGED, type UpdateOperator } from './update-operator.ts';

/** A number and a bigint never mix: the sum would be exact or not depending on the document. */
function arithmetic<N extends number | bigint>(
  missing: (operand: N) => N,
  combine: (before: N, operand: N) => N,
): UpdateOperator {
  return (path, operand, place) => {
    if (typeof operand !== 'number' && typeof operand !== 'bigint')
      throw updateInvalid(place, 'must be a number or a bigint');
    return replacing(path, (before) => {
      if (before === undefined) return missing(operand as N);
      if (typeof before !== typeof operand)
        throw mismatch(path.path, before, `a ${typeof operand}`);
      return combine(before as N, operand as N);
    });
  };
}

// JavaScript computes numbers and bigints alike; TypeScript wants one of them.
export const increment = arithmetic<number>(
  (operand) => operand,
  (before, operand) => before + operand,
);

export const multiply = arithmetic<number>(
  (operand) => (typeof operand === 'bigint' ? (0n as never) : 0),
  (before, operand) => before * operand,
);

function bound(sign: 1 | -1): UpdateOperator {
  return (path, operand) =>
    replacing(path, (before) =>
      before === undefined || sign * compareValues(operand, before) > 0 ? operand : UNCHANGED,
    );
}

export const least = bound(-1);
export const greatest = bound(1);
