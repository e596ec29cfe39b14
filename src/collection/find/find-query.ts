import { type Body, encode } from '../../codec/body.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { After, ArchivedFilter, Selection } from '../../engine/protocol/requests.ts';
import { checkCriteria } from './check-criteria.ts';
import { holdsPattern } from './holds-pattern.ts';
import { passesPredicate } from './predicate.ts';
import { checkSearch, findChecks, type Search } from './search.ts';

const { archived, where, signal } = findChecks;
const matchChecks = { archived, where, signal };

type Test = (document: never) => unknown;

/** A query, split into the engine's part and the part with the caller's functions. */
export interface FindQuery {
  readonly selection: Selection;
  /** The caller's functions; a document must pass all. */
  readonly test: ((document: object) => boolean) | undefined;
  readonly skip: number;
  readonly limit: number;
  /** Paths to select here, as functions get whole documents. */
  readonly select: readonly string[] | undefined;
}

/** The end of a page, and its sort order. */
interface PageEnd extends Omit<After, 'id'> {
  readonly rank: number;
  readonly sort: string | undefined;
}

/** Ends of pages, by the last document of each, which callers pass as `after`. */
const pageEnds = new WeakMap<object, PageEnd>();

/** Checks the arguments of a query, and splits it like {@link findQuery}. */
export function parseFindQuery(params: unknown, options: unknown, most?: number): FindQuery {
  return findQuery(checkSearch(params, options), most);
}

/** Like {@link parseFindQuery}, of a method that changes all matches: it takes no order, and no part of it. */
export function parseMatchQuery(params: unknown, options: unknown): FindQuery {
  return findQuery(checkSearch(params, options, matchChecks));
}

/** Splits a query: the engine applies the criteria, this thread the functions. */
export function findQuery(
  { params, given, sort, select }: Search,
  most = Number.POSITIVE_INFINITY,
): FindQuery {
  const isTest = typeof params === 'function';
  const tests = [isTest ? params : undefined, given.where].filter(Boolean) as Test[];
  const skip = (given.skip as number | undefined) ?? 0;
  const limit = Math.min((given.limit as number | undefined) ?? most, most);
  const criteria = isTest ? undefined : params;
  checkCriteria(criteria, '');
  const selection: Selection = {
    criteria,
    mayHang: holdsPattern(criteria) || undefined,
    archived: (given.archived as ArchivedFilter | undefined) ?? false,
    sort,
    after: given.after === undefined ? undefined : pageEnd(given.after as { _id: string }, sort),
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
  const test = (document: object) =>
    tests.every((each) => passesPredicate(each, document as never));
  // The engine checks the query even with `limit: 0`.
  const asked = limit === 0 ? { ...selection, limit } : selection;
  return { selection: asked, test, skip, limit, select };
}

function pageEnd(document: { readonly _id: string }, order: object | undefined): After {
  const { _id: id } = document;
  const { sort, ...end }: Partial<PageEnd> = pageEnds.get(document) ?? {};
  // In the same order the values at the time of the page count, in another the document's own.
  if (end.rank !== undefined && sort === JSON.stringify(order)) return { id, ...end };
  const body = encode(isPlainObject(document) ? document : {}, 'after', true);
  return { id, rank: end.rank, body };
}

/** Notes the end of a page. */
export function notePageEnd(
  document: object | undefined,
  { selection }: FindQuery,
  end: { readonly rank: number; readonly key?: unknown; readonly body?: Body },
): void {
  if (document) pageEnds.set(document, { ...end, sort: JSON.stringify(selection.sort) });
}
