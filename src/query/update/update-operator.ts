import { CriteriaError } from '../../errors/errors.ts';
import type { SplitPath } from '../path/update-paths.ts';
import { checkSettable, getAt, setAt } from '../path/value-path.ts';

/**
 * Changes decoded fields in place, and returns them. After an error they are of no use.
 *
 * @param now Unix milliseconds, for `$currentDate`.
 * @throws {KeyError} `kind_mismatch`, `key_invalid`
 */
export type ApplyUpdate = (fields: object, now: number) => object;

/** What the changes of a patch refer to. */
export interface UpdateSource {
  /** Filters of items, by the names that paths give them: `$[name]`. */
  readonly filters?: readonly object[] | undefined;
  /** The criteria that have found the document: `$` is the first item that they match. */
  readonly criteria?: object | undefined;
  /** Of the criteria and filters. */
  readonly collation?: string | undefined;
  /** Whether the document is a new one, which `$setOnInsert` is for. */
  readonly inserts?: boolean;
}

/** A path in a document. Digits are a position where an array is. */
export type UpdatedPath = SplitPath;

/** Changes decoded fields in place. @param now Unix milliseconds. */
export type UpdateStep = (fields: object, now: number) => void;

/**
 * Compiles an operator on one path. Its client has checked the operand.
 *
 * @param collation The order of strings, as `parseCollation` writes it.
 */
export type UpdateOperator = (
  path: UpdatedPath,
  operand: never,
  collation: string | undefined,
) => UpdateStep;

/**
 * What a change returns to leave the path as it is. Missing parents are not made, but values in the
 * way are refused.
 */
export const UNCHANGED = Symbol('unchanged');

/**
 * A step that replaces the value at a path. A missing value is `undefined`, as is a stored one:
 * operators that count from nothing treat both alike.
 */
export function replacing(
  { path, segments }: UpdatedPath,
  next: (before: unknown, now: number) => unknown,
): UpdateStep {
  return (fields, now) => {
    const before = getAt(fields, segments);
    const after = next(before, now);
    if (after !== UNCHANGED) setAt(fields, segments, after, path);
    else if (before === undefined) checkSettable(fields, segments, path);
  };
}

/** The error of criteria within changes, with its whole place. */
export function placedAt({ code, message, place }: CriteriaError, whole: string): CriteriaError {
  return new CriteriaError(code, message.replace(`'${place}'`, `'${whole}'`), { place: whole });
}
