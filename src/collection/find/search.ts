import { capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError } from '../../errors/criteria-error.ts';
import { type Check, checkOptions, integer, isAbortSignal } from '../options/option-checks.ts';
import { copyCriteria } from './params.ts';

const anything: Check = { allowed: '', test: () => true };
const count = integer('a whole number, 0 or more', (value) => value >= 0);

/** Checks of the options of all queries. */
export const findChecks = {
  archived: {
    allowed: "true, false or 'only'",
    test: (value) => typeof value === 'boolean' || value === 'only',
  },
  // `sort` and `select` are checked where they are compiled.
  sort: anything,
  select: anything,
  skip: count,
  limit: count,
  after: {
    allowed: 'a document, or an object with its _id',
    test: (value) => typeof (value as { _id?: unknown } | null)?._id === 'string',
  },
  where: { allowed: 'a function', test: (value) => typeof value === 'function' },
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
} satisfies Record<string, Check>;

/** The checked arguments of a query. */
export interface Search {
  /** A copy of the criteria, or a function. */
  readonly params: object;
  readonly given: Readonly<Record<string, unknown>>;
  /** Copies of the caller's. */
  readonly sort: object | undefined;
  readonly select: readonly string[] | undefined;
}

/**
 * Checks and copies the arguments of a query: later changes by the caller have no effect.
 *
 * @throws {OptionError} for an unknown option or an invalid value; {CriteriaError}.
 */
export function checkSearch(
  params: unknown,
  options: unknown,
  checks: Readonly<Record<string, Check>> = findChecks,
): Search {
  const given = checkOptions(options ?? {}, checks, 'options');
  return {
    params: typeof params === 'function' ? params : copyCriteria(params),
    given,
    sort: isNoOrder(given.sort) ? undefined : (copied(given.sort, 'sort') as object | undefined),
    select: copied(given.select, 'select') as readonly string[] | undefined,
  };
}

/** `{}` means no order, as in MongoDB. */
function isNoOrder(sort: unknown): boolean {
  return isPlainObject(sort) && Object.keys(sort).length === 0;
}

function copied(value: unknown, place: 'sort' | 'select'): unknown {
  try {
    return capture(value, place).copy;
  } catch (cause) {
    const { message } = cause as Error;
    throw new CriteriaError(`${place}_invalid`, message, { place, cause });
  }
}
