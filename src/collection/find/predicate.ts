import { CriteriaError } from '../../errors/criteria-error.ts';

/** Calls a predicate. A promise would match every document, so it is refused. */
export function passesPredicate<T>(predicate: (item: T) => unknown, item: T): boolean {
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
