import { capture } from '../codec/capture.ts';
import { isPlainObject } from '../codec/kinds.ts';
import { CriteriaError } from '../errors/criteria-error.ts';
import { ValueError } from '../errors/value-error.ts';

/** Checks criteria before they travel, and copies them: changing them later changes nothing. */
export function copyCriteria(criteria: unknown): object {
  if (!isPlainObject(criteria)) {
    throw new CriteriaError(
      'criteria_invalid',
      'params must be a function or an object of field criteria; {} matches every document.',
      { place: 'params' },
    );
  }
  try {
    return capture(criteria, 'params').copy as object;
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new CriteriaError('criteria_invalid', cause.message, { place: cause.place, cause });
  }
}

/** Whether copied criteria hold a pattern. Where in doubt they do. */
export function holdsPattern(criteria: unknown): boolean {
  if (Array.isArray(criteria)) return criteria.some(holdsPattern);
  if (!isPlainObject(criteria)) return criteria instanceof RegExp;
  return Object.keys(criteria).some((key) => key === '$regex' || holdsPattern(criteria[key]));
}

/** Calls a predicate. A promise would match every document, so it is refused. */
export function matches<T>(predicate: (item: T) => unknown, item: T): boolean {
  const result = predicate(item);
  if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
    throw new CriteriaError(
      'predicate_async',
      'The predicate returned a promise; it has to decide at once.',
      { place: 'params' },
    );
  }
  return Boolean(result);
}
