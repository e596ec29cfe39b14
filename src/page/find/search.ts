import { parseCollation } from '../../api/options/collation.ts';
import {
  type Check,
  checkOptions,
  integer,
  isAbortSignal,
} from '../../api/options/option-checks.ts';
import { capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { type CairnError, CriteriaError } from '../../errors/errors.ts';
import type { Search } from '../sending/observed-call.ts';

const anything: Check = { allowed: '', test: () => true };
const count = integer(0);

/** Checks of the options of all queries. */
export const findChecks = {
  archived: {
    allowed: "true, false or 'only'",
    test: (value) => typeof value === 'boolean' || value === 'only',
  },
  // `sort`, `select` and `collation` are checked where they are compiled.
  sort: anything,
  select: anything,
  collation: anything,
  skip: count,
  limit: count,
  after: {
    allowed: 'a document, or an object with its _id',
    test: (value) => typeof (value as { _id?: unknown } | null)?._id === 'string',
  },
  where: { allowed: 'a function', test: (value) => typeof value === 'function' },
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
} satisfies Record<string, Check>;

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
    collation: parseCollation(given.collation, 'collation'),
    sort: isNoOrder(given.sort) ? undefined : (copied(given.sort, 'sort') as object | undefined),
    select: copied(given.select, 'select') as object | undefined,
  };
}

/** `{}` means no order, as in MongoDB. */
function isNoOrder(sort: unknown): boolean {
  return isPlainObject(sort) && Object.keys(sort).length === 0;
}

/**
 * Copies an argument: later changes by the caller have no effect.
 *
 * @throws {CriteriaError} `sort_invalid` and the like
 */
export function copied(value: unknown, root: 'sort' | 'select' | 'pipeline' | 'params'): unknown {
  if (value === undefined) return undefined;
  try {
    return capture(value, root, true).copy;
  } catch (cause) {
    const { message, place } = cause as CairnError;
    const what = root === 'params' ? 'criteria' : root;
    throw new CriteriaError(`${what}_invalid`, message, { place, cause });
  }
}

/** Checks and copies criteria: later changes by the caller have no effect. */
export function copyCriteria(criteria: unknown): object {
  if (!isPlainObject(criteria)) {
    throw new CriteriaError(
      'criteria_invalid',
      'params must be a function or criteria; {} matches all documents.',
      { place: 'params' },
    );
  }
  return copied(criteria, 'params') as object;
}
