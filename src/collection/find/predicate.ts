import { CriteriaError } from '../../errors/criteria-error.ts';

/** Calls a predicate. Refuses a promise, which would match every document. */
export function passesPredicate<T>(predicate: (item: T) => unknown, item: T): boolean {
  const result = predicate(item);
  if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') {
    throw new CriteriaError(
      'predicate_async',
      'The predicate returned a promise; it must return at once whether the document matches.',
      { place: 'params' },
    );
  }
  return Boolean(result);
}
