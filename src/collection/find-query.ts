import { capture } from '../codec/capture.ts';
import type { ArchivedFilter, Selection } from '../engine/protocol.ts';
import { CriteriaError } from '../errors/criteria-error.ts';
import { type Check, check, checkKnown, integer, isAbortSignal } from './option-checks.ts';
import { copyCriteria, matches } from './params.ts';

const anything: Check = { allowed: '', test: () => true };
const count = integer('a whole number, 0 or more', (value) => value >= 0);

/** What the options of everything that looks for documents may be. */
export const findChecks = {
  archived: {
    allowed: "true, false or 'only'",
    test: (value) => typeof value === 'boolean' || value === 'only',
  },
  // What these hold is checked where it is used.
  sort: anything,
  select: anything,
  skip: count,
  limit: count,
  after: {
    allowed: 'a document that an earlier call returned',
    test: (value) => typeof (value as { _id?: unknown } | null)?._id === 'string',
  },
  where: { allowed: 'a function', test: (value) => typeof value === 'function' },
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
} satisfies Record<string, Check>;

type Test = (document: never) => unknown;

/** What a caller looks for: the engine's part of it, and what is left to do here. */
export interface FindQuery {
  readonly selection: Selection;
  /** The functions that a document has to pass. */
  readonly test: ((document: object) => boolean) | undefined;
  readonly skip: number;
  readonly limit: number;
  /** Paths to keep, where the engine cannot because functions want whole documents. */
  readonly select: readonly string[] | undefined;
}

/**
 * Checks what a caller looks for, and copies it: changing it later changes nothing. With a function in it
 * the engine delivers what the criteria match, and the rest is done here. `after` is checked alone.
 *
 * @throws {OptionError} for an unknown option or a value that is not allowed; {CriteriaError}.
 */
export function parseFindQuery(
  params: unknown,
  options: unknown,
  most = Number.POSITIVE_INFINITY,
): FindQuery {
  const given = checkKnown(options ?? {}, findChecks, 'options');
  for (const [option, allowed] of Object.entries(findChecks)) check(given, option, allowed);
  const tests = [params, given.where].filter((test) => typeof test === 'function') as Test[];
  const skip = (given.skip as number | undefined) ?? 0;
  const limit = Math.min((given.limit as number | undefined) ?? most, most);
  const select = copied(given.select, 'select') as readonly string[] | undefined;
  const selection: Selection = {
    criteria: typeof params === 'function' ? undefined : copyCriteria(params),
    archived: (given.archived as ArchivedFilter | undefined) ?? false,
    sort: copied(given.sort, 'sort') as object | undefined,
  };
  if (tests.length === 0) {
    return {
      selection: {
        ...selection,
        skip,
        limit: Number.isFinite(limit) ? limit : undefined,
        select,
        all: true,
      },
      test: undefined,
      skip: 0,
      limit: Number.POSITIVE_INFINITY,
      select: undefined,
    };
  }
  const test = (document: object) => tests.every((each) => matches(each, document as never));
  return { selection, test, skip, limit, select };
}

function copied(value: unknown, place: 'sort' | 'select'): unknown {
  try {
    return capture(value, place).copy;
  } catch (cause) {
    const { message } = cause as Error;
    throw new CriteriaError(`${place}_invalid`, message, { place, cause });
  }
}
