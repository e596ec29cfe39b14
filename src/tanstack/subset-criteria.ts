import type { IR, LoadSubsetOptions } from '@tanstack/db';
import type { Collation } from '../api/options/collation.ts';

/** Criteria that find every row that satisfies an expression. */
interface Translated {
  readonly criteria: object;
  /** Whether they find no other rows. */
  readonly exact: boolean;
}

const ALL: Translated = { criteria: {}, exact: true };
const NONE: Translated = { criteria: { _id: { $in: [] } }, exact: true };
/** TanStack DB filters what was loaded, so more than it asked for is only slower. */
const UNKNOWN: Translated = { criteria: {}, exact: false };

/** Each operator, its opposite, and what it is with its sides exchanged. */
const RANGES: Record<string, readonly [is: string, isNot: string, mirrored: string]> = {
  eq: ['$eq', '$nin', 'eq'],
  gt: ['$gt', '$lte', 'lt'],
  gte: ['$gte', '$lt', 'lte'],
  lt: ['$lt', '$gte', 'gt'],
  lte: ['$lte', '$gt', 'gte'],
};

/**
 * Translates an expression. Its logic has three values: what compares with null is neither true nor
 * false, so `not` finds no row whose value is null.
 */
function translate(expression: IR.BasicExpression | undefined, isNegated = false): Translated {
  if (!expression) return ALL;
  if (expression.type === 'val') {
    if (typeof expression.value !== 'boolean') return UNKNOWN;
    return expression.value === isNegated ? NONE : ALL;
  }
  if (expression.type === 'ref') return UNKNOWN;
  const { name, args } = expression;
  const [left, right] = args;
  if (name === 'and' || name === 'or') {
    const parts = args.map((part) => translate(part, isNegated));
    return (name === 'and') === isNegated ? anyOf(...parts) : allOf(...parts);
  }
  if (name === 'not') return translate(left, !isNegated);
  if (left?.type === 'val' && right?.type === 'ref' && RANGES[name])
    return compare(RANGES[name][2], right, left.value, isNegated);
  if (left?.type !== 'ref') return UNKNOWN;
  if (name === 'isNull' || name === 'isUndefined') return nothing(name, left, isNegated);
  return right?.type === 'val' ? compare(name, left, right.value, isNegated) : UNKNOWN;
}

function allOf(...parts: readonly Translated[]): Translated {
  const asked = parts.map(({ criteria }) => criteria).filter((one) => Object.keys(one).length > 0);
  const criteria = asked.length > 1 ? { $and: asked } : (asked[0] ?? {});
  return { criteria, exact: parts.every(({ exact }) => exact) };
}

function anyOf(...parts: readonly Translated[]): Translated {
  const all = parts.find(({ criteria }) => Object.keys(criteria).length === 0);
  if (all) return all;
  const $or = parts.map(({ criteria }) => criteria);
  return { criteria: { $or }, exact: parts.every(({ exact }) => exact) };
}

function compare(name: string, ref: IR.PropRef, value: unknown, isNegated: boolean): Translated {
  const path = pathOf(ref);
  if (!path) return UNKNOWN;
  if (name === 'like') return beginsWith(path, value, isNegated);
  if (name === 'in' && Array.isArray(value)) {
    const values = value.filter((one) => one !== null && one !== undefined);
    if (!values.every(isComparable)) return UNKNOWN;
    return exactly(path, isNegated ? { $nin: [...values, null] } : { $in: values });
  }
  const range = RANGES[name];
  if (!range) return UNKNOWN;
  if (value === null || value === undefined) return NONE;
  if (!isComparable(value)) return UNKNOWN;
  if (!isNegated) return exactly(path, { [range[0]]: value });
  return exactly(path, { [range[1]]: name === 'eq' ? [value, null] : value });
}

/** `isNull` and `isUndefined`: criteria for null match what is missing too. */
function nothing(name: string, ref: IR.PropRef, isNegated: boolean): Translated {
  const path = pathOf(ref);
  if (!path) return UNKNOWN;
  if (name === 'isNull') {
    const isNull = { $type: 'null' };
    return exactly(path, isNegated ? { $not: isNull } : isNull);
  }
  return isNegated ? UNKNOWN : { criteria: { [path]: null }, exact: false };
}

/** A range has the letters before the first wildcard; a pattern would make each result wait. */
function beginsWith(path: string, pattern: unknown, isNegated: boolean): Translated {
  const [start = ''] = typeof pattern === 'string' ? pattern.split(/[%_\\]/, 1) : [];
  const last = start.charCodeAt(start.length - 1);
  if (isNegated || !(last < 0xffff)) return UNKNOWN;
  const $lt = start.slice(0, -1) + String.fromCharCode(last + 1);
  return { criteria: { [path]: { $gte: start, $lt } }, exact: false };
}

const exactly = (path: string, operators: object): Translated => ({
  criteria: { [path]: operators },
  exact: true,
});

/** The dotted path of a field; none of a virtual property such as `$synced`. */
function pathOf(expression: IR.BasicExpression): string | undefined {
  if (expression.type !== 'ref' || expression.path.length === 0) return undefined;
  const isPlain = expression.path.every((key) => /^[^$.][^.]*$/.test(String(key)));
  return isPlain ? expression.path.join('.') : undefined;
}

function isComparable(value: unknown): boolean {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return /^(string|boolean|bigint|number)$/.test(typeof value) && !Number.isNaN(value);
}

/** What a subset has: every document from the start of its order to its boundary. */
export interface SubsetQuery {
  readonly criteria: object;
  readonly collation?: Collation | undefined;
}

/** Reads the value at a path of the document at this place of a list that is sorted by it. */
export type ReadBoundary = (
  query: SubsetQuery,
  path: string,
  sort: 1 | -1,
  place: number,
) => Promise<unknown>;

/**
 * Turns a limit into a boundary, ties included. A list with a limit would lose its last row to one
 * that is inserted before it, and no page would have that row any more.
 */
export async function subsetQuery(
  own: object,
  options: LoadSubsetOptions,
  read: ReadBoundary,
): Promise<SubsetQuery> {
  const { orderBy, limit, offset = 0, cursor } = options;
  const base = allOf({ criteria: own, exact: true }, translate(options.where));
  const from = translate(cursor?.whereFrom);
  const current = cursor ? translate(cursor.whereCurrent) : NONE;
  const rest = cursor ? allOf(base, anyOf(current, from)) : base;
  const [order] = orderBy ?? [];
  const path = order && pathOf(order.expression);
  if (limit === undefined || !path || !base.exact || !from.exact) return rest;
  const place = cursor ? limit : offset + limit;
  if (place === 0) return cursor ? allOf(base, current) : NONE;
  const { direction, nulls, ...strings } = order.compareOptions;
  const sort = direction === 'asc' ? 1 : -1;
  const { criteria } = allOf(base, from, { criteria: { [path]: { $ne: null } }, exact: true });
  let boundary = await read({ criteria }, path, sort, place - 1);
  let collation: Collation | undefined;
  if (typeof boundary === 'string' && strings.stringSort !== 'lexical') {
    collation = collationOf(strings);
    if (!collation) return rest;
    boundary = await read({ criteria, collation }, path, sort, place - 1);
  }
  if (!isComparable(boundary)) return rest;
  const within = exactly(path, { [sort > 0 ? '$lte' : '$gte']: boundary });
  const first =
    nulls === 'first' ? anyOf({ criteria: { [path]: null }, exact: true }, within) : within;
  return { ...allOf(base, anyOf(current, allOf(from, first))), collation };
}

/** That of `localeCompare`, where it has no options. */
function collationOf(strings: object): Collation | undefined {
  const { stringSort, locale, localeOptions } = strings as Record<string, object | undefined>;
  if (String(stringSort ?? 'locale') !== 'locale' || Object.keys(localeOptions ?? {}).length > 0)
    return undefined;
  return String(locale ?? new Intl.Collator().resolvedOptions().locale);
}
