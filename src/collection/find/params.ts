import { capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError } from '../../errors/criteria-error.ts';
import { ValueError } from '../../errors/value-error.ts';

/** Checks and copies criteria: later changes by the caller have no effect. */
export function copyCriteria(criteria: unknown): object {
  if (!isPlainObject(criteria)) {
    throw new CriteriaError(
      'criteria_invalid',
      'params must be a function or an object of criteria; {} matches all documents.',
      { place: 'params' },
    );
  }
  try {
    return capture(criteria, 'params', true).copy as object;
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new CriteriaError('criteria_invalid', cause.message, { place: cause.place, cause });
  }
}
