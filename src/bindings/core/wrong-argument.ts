import { OptionError } from '../../errors/option-error.ts';

/** The error of an argument of another kind. */
export function wrong(hook: string, given: unknown, needed: string): OptionError {
  const { type, then, subscribe } = (given ?? {}) as Record<string, unknown>;
  const what = type
    ? `a ${type} collection`
    : then
      ? 'a promise'
      : subscribe
        ? 'a live query'
        : typeof given;
  return new OptionError('option_invalid', `${hook}() got ${what}; pass ${needed}.`, {
    place: hook,
  });
}
